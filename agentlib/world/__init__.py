"""The small world that the lessons' tools look into: an encyclopedia, weather and a calculator."""

from .calculator import calculator
from .encyclopedia import search
from .weather import weather

__all__ = ["calculator", "search", "weather"]
