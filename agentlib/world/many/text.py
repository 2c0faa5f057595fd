"""Tools on texts."""

import re


def count_words(text: str) -> str:
    """Count the words in a text.

    Args:
        text: The text itself.
    """
    return f"The text has {len(text.split())} words."


def reverse_text(text: str) -> str:
    """Write a text backwards, letter by letter.

    Args:
        text: The text itself.
    """
    return f"Backwards it is '{text[::-1]}'."


def is_palindrome(text: str) -> str:
    """Say whether a text is a palindrome: the same when it is read from both ends.

    Args:
        text: The text itself.
    """
    letters = re.sub(r"[\W_]", "", text).lower()
    return f"'{text}' is {'a' if letters == letters[::-1] else 'no'} palindrome."


def sort_words(text: str) -> str:
    """Sort the words or names of a list by the alphabet.

    Args:
        text: The list itself, with commas.
    """
    return ", ".join(sorted((part.strip() for part in text.split(",") if part.strip()), key=str.lower))


def upper_case(text: str) -> str:
    """Write a text in capitals, that is, in upper-case letters.

    Args:
        text: The text itself.
    """
    return text.upper()
