"""The API's own errors."""


class APIError(Exception):
    """An answer that the API gives instead of a reply."""

    def __init__(self, status: int, message: str, *, kind: str = "invalid_request_error", param: str | None = None,
                 code: str | None = None):
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


def wrong_type(name: str, expected: str) -> APIError:
    """Refuse a field of the wrong type."""
    return APIError(400, f"Invalid type for '{name}': expected {expected}.", param=name, code="invalid_type")


def missing(name: str) -> APIError:
    """Refuse a request without a field."""
    return APIError(400, f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter")


def wrong_value(name: str, said: str) -> APIError:
    """Refuse a value of the right type."""
    return APIError(400, f"Invalid value for '{name}': {said}", param=name, code="invalid_value")


def empty_array(name: str) -> APIError:
    """Refuse an array that must hold something."""
    return APIError(400, f"Invalid '{name}': empty array. Expected an array with minimum length 1, but got an empty"
                         f" array instead.", param=name, code="empty_array")
