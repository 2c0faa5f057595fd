"""Tools that know a made-up company: its people, its handbook, its words."""

import re

_STAFF = {  # phone, manager, team, office
    "Priya Nair": ("4411", "Jonas Lindqvist", "design", "2.14"),
    "Tom Baker": ("4407", "Priya Nair", "design", "2.15"),
    "Anna Kowalska": ("4423", "Jonas Lindqvist", "finance", "3.02"),
    "Omar Farouk": ("4430", "Anna Kowalska", "finance", "3.04"),
    "Jonas Lindqvist": ("4400", "", "board", "4.01"),
}
_HANDBOOK = {
    "holiday": "Everyone has 28 days of holiday a year; five may be carried over to March.",
    "remote": "Two days a week may be worked from home, after the third month.",
    "expenses": "Receipts are handed in within 60 days; meals are paid up to EUR 40 a day.",
    "sick": "Call in before 09:00; a doctor's note is needed from the third day.",
    "training": "Each person has EUR 800 a year for courses and books.",
}
_WORDS = {
    "idempotent": "doing it twice has the same effect as doing it once",
    "accrual": "a cost that is booked before the invoice comes",
    "onboarding": "the first weeks in which a new colleague learns how things are done",
    "latency": "the time between a request and the first part of the answer",
}


def phone_of(person: str) -> str:
    """Give the phone number of a colleague.

    Args:
        person: The full name, for example "Priya Nair".
    """
    return f"The phone number of {person} is {_row(person)[0]}."


def manager_of(person: str) -> str:
    """Say who the manager or boss of a colleague is, whom they report to.

    Args:
        person: The full name, for example "Tom Baker".
    """
    return f"The manager of {person} is {_row(person)[1] or 'nobody: this is the board'}."


def team_members(team: str) -> str:
    """List the people in a team.

    Args:
        team: The name of the team, for example "design".
    """
    found = [name for name, row in _STAFF.items() if row[2] == team.strip().lower()]
    if not found:
        teams = dict.fromkeys(row[2] for row in _STAFF.values())
        raise ValueError(f"there is no team {team!r}; the teams are {', '.join(teams)}")
    return f"In the {team} team are {', '.join(found)}."


def office_of(person: str) -> str:
    """Say in which room or office a colleague sits.

    Args:
        person: The full name, for example "Anna Kowalska".
    """
    return f"{person} sits in room {_row(person)[3]}."


def handbook(topic: str) -> str:
    """Look up the rules of the company: holiday, remote work, expenses, sick leave, training.

    Args:
        topic: The topic, for example "holiday".
    """
    said = {part.rstrip("s") for part in re.findall(r"\w+", topic.lower())}
    found = [text for key, text in _HANDBOOK.items() if key.rstrip("s") in said]
    if not found:
        raise ValueError(f"the handbook has nothing on {topic!r}; its topics are {', '.join(_HANDBOOK)}")
    return " ".join(found)


def define_word(word: str) -> str:
    """Say what a word means, from the glossary.

    Args:
        word: The word, for example "idempotent".
    """
    meaning = _WORDS.get(word.strip().lower())
    if meaning is None:
        raise ValueError(f"{word!r} is not in the glossary; it has {', '.join(_WORDS)}")
    return f"'{word}' means: {meaning}."


def _row(person: str) -> tuple[str, str, str, str]:
    """Give what is known of a person; raise ValueError if that is nobody, or not one."""
    found = [name for name in _STAFF if set(person.lower().split()) <= set(name.lower().split()) and person.strip()]
    if len(found) != 1:
        raise ValueError(f"there is no colleague {person!r}; there are {', '.join(_STAFF)}")
    return _STAFF[found[0]]
