"""The orders of a small shop in SQLite: two tools that look, and two that write.

    orders = Orders()                       # in memory: a fresh copy for each agent
    orders = Orders("shop.db")              # in a file, which keeps what was done
    FunctionCalling(llm, tools=orders.tools)

A write is one transaction: it happens whole or not at all, and of two at once the second sees what the first did. An
order is paid back once at most, and never more than was paid. The same refund again (order, amount and reason) gets the
first result again and pays nothing, since an answer may have got lost. What a tool refuses, it explains, and says what
to do.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from os import PathLike
from threading import RLock
from typing import Literal

from ..tools import Tool
from .records import fold
from .shop import PAID, euros, in_cents, open_shop

Status = Literal["placed", "shipped", "delivered", "cancelled", "refunded"]
_ID = re.compile(r"A-\d{4}")


class Orders:
    """The shop's orders. `path` is a file, or ":memory:". The methods are tools; any number of threads may call them.

    A pickled copy of one in memory is a copy of its own, with what was done so far; one in a file shares the file.
    Raises ValueError for a file that is no database of the shop.
    """

    def __init__(self, path: str | PathLike = ":memory:") -> None:
        self.path = path
        self._lock = RLock()
        self._database = open_shop(path)

    @property
    def tools(self) -> list[Tool]:
        """The four tools; those that write are marked, so that a person is asked first."""
        return [Tool(self.find_orders), Tool(self.lookup_order), Tool(self.refund, writes=True),
                Tool(self.cancel_order, writes=True)]

    def find_orders(self, customer: str, status: Status | None = None) -> str:
        """List the orders of one customer, oldest first: id, status, items and what was paid. Use it when the question
        names a customer and no order id. Not for one order whose id is known: use lookup_order.

        Args:
            customer: The full name of the customer, for example "Mei Chen".
            status: Only orders with this status. Orders that are on their way are shipped.
        """
        with self._transaction("DEFERRED"):
            name = self._customer(customer)
            found = self.query("SELECT id, status FROM orders WHERE customer = ? AND status = coalesce(?, status)"
                               " ORDER BY id", name, status)
            lines = [f"{order} {now}: {self._items(order)}, paid {euros(self._paid(order))}" for order, now in found]
        return "\n".join(lines) or f"{name} has no orders" + (f" that are {status}." if status else ".")

    def lookup_order(self, order_id: str) -> str:
        """Look up one order by its id: customer, status, dates, items with prices, what was paid and refunded. Use it
        before a refund, to see what was paid. Order ids look like A-1042. Not for a customer's name: use find_orders.

        Args:
            order_id: The id of the order, for example "A-1042".
        """
        with self._transaction("DEFERRED"):
            order, customer, status, placed, shipped, delivered = self._order(order_id)
            back = self.query("SELECT cents, reason FROM refunds WHERE order_id = ?", order)
            items, paid = self._items(order, prices=True), self._paid(order)
        dates = [f"{what} on {date}" for what, date in (("Placed", placed), ("shipped", shipped),
                                                        ("delivered", delivered)) if date]
        refunded = f"{euros(back[0][0])} ({back[0][1]})" if back else "nothing"
        return (f"Order {order} of {customer}. Status: {status}. {', '.join(dates)}. Items: {items}. "
                f"Paid: {euros(paid)}. Refunded: {refunded}.")

    def refund(self, order_id: str, amount: float, reason: str) -> str:
        """Pay money back for an order that was delivered, all of it or a part, once. Use it when something arrived
        broken, wrong or late. Not for orders that were not delivered yet: use cancel_order before they are shipped.

        Args:
            order_id: The id of the order, for example "A-1042".
            amount: The amount in euros, at most what was paid, for example 12.50.
            reason: Why, in the customer's words, for example "the cup arrived broken".
        """
        with self._transaction("IMMEDIATE"):
            order, customer, status, *_ = self._order(order_id)
            cents, paid = in_cents(amount), self._paid(order)
            done = f"Refunded {euros(cents)} of the {euros(paid)} paid for order {order} to {customer}"
            if status == "refunded" and self._paid_back(order) == (cents, reason.strip()):
                return f"{done}; it had been paid before, and was not paid again."
            if status != "delivered":
                raise ValueError(self._why_no_refund(order, status))
            if cents > paid:
                raise ValueError(f"amount: {euros(cents)} is more than was paid for order {order}; refund at most"
                                 f" {euros(paid)}")
            if not reason.strip():
                raise ValueError("reason: say in a few words why the money is paid back")
            self._pay_back(order, cents, reason.strip(), "refunded")
            return f"{done}."

    def cancel_order(self, order_id: str) -> str:
        """Cancel an order that was placed and is not shipped yet; the customer gets all the money back. Not for orders
        that are on their way or delivered: once delivered, they can be refunded.

        Args:
            order_id: The id of the order, for example "A-1042".
        """
        with self._transaction("IMMEDIATE"):
            order, customer, status, *_ = self._order(order_id)
            if status != "placed":
                then = "; it can be refunded once it is delivered" if status == "shipped" else ""
                then = "; use refund if the money should go back" if status == "delivered" else then
                raise ValueError(f"order {order} is {status}, and only an order that is not shipped yet can be"
                                 f" cancelled{then}")
            paid = self._paid(order)
            self._pay_back(order, paid, "cancelled before it was shipped", "cancelled")
            return f"Cancelled order {order}; {customer} gets {euros(paid)} back."

    def query(self, sql: str, *values: object) -> list[tuple]:
        """Give the rows of an SQL query, for people who want to see the tables."""
        with self._lock:
            return self._database.execute(sql, values).fetchall()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __getstate__(self) -> dict:
        in_file = str(self.path) != ":memory:"
        with self._lock:
            return {"path": self.path, "script": None if in_file else "\n".join(self._database.iterdump())}

    def __setstate__(self, state: dict) -> None:
        self.path, self._lock = state["path"], RLock()
        if state["script"] is None:
            self._database = open_shop(self.path)
            return
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._database.executescript(state["script"])
        self._database.execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def _transaction(self, kind: Literal["IMMEDIATE", "DEFERRED"]) -> Iterator[None]:
        """See one state of the tables, and write all or nothing.

        A write is IMMEDIATE: it takes the file at once, so that no other program decides on old figures.
        """
        with self._lock:
            self._database.execute(f"BEGIN {kind}")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def _pay_back(self, order: str, cents: int, reason: str, status: str) -> None:
        self._database.execute("INSERT INTO refunds VALUES (?, ?, ?)", (order, cents, reason))
        self._database.execute("UPDATE orders SET status = ? WHERE id = ?", (status, order))

    def _paid_back(self, order: str) -> tuple[int, str]:
        """Give the cents and the reason of the refund of an order that has one."""
        return self.query("SELECT cents, reason FROM refunds WHERE order_id = ?", order)[0]

    def _order(self, order_id: str) -> tuple:
        """Give the row of an order; raise ValueError if there is none."""
        wanted = order_id.strip().upper()
        found = self.query("SELECT id, customer, status, placed, shipped, delivered FROM orders WHERE id = ?", wanted)
        if found:
            return found[0]
        number = re.search(r"\d{4}", wanted)
        meant = f"A-{number[0]}" if number and not _ID.fullmatch(wanted) else ""
        if meant and self.query("SELECT 1 FROM orders WHERE id = ?", meant):
            raise ValueError(f"there is no order {order_id!r}; order ids look like A-1042. Did you mean {meant}?")
        raise ValueError(f"there is no order {order_id}; order ids look like A-1042; find_orders lists a customer's"
                         " orders")

    def _customer(self, wanted: str) -> str:
        """Give the name of the one customer who is meant; raise ValueError if that is none or several."""
        names = [name for (name,) in self.query("SELECT name FROM customers ORDER BY name")]
        parts = set(fold(wanted).split())
        found = [name for name in names if parts and parts <= set(fold(name).split())]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(f"customer: {wanted!r} may be {' or '.join(found)}; give the full name")
        folded = {fold(name): name for name in names}
        close = [folded[each] for each in get_close_matches(fold(wanted), folded, n=3, cutoff=0.7)]
        hint = f"Did you mean {' or '.join(close)}?" if close else "Give the full name, for example Mei Chen."
        raise ValueError(f"there is no customer {wanted!r}. {hint}")

    def _paid(self, order: str) -> int:
        return self.query(PAID, order)[0][0]

    def _items(self, order: str, prices: bool = False) -> str:
        lines = self.query("SELECT quantity, item, cents FROM order_lines WHERE order_id = ? ORDER BY rowid", order)
        return ", ".join(f"{quantity} × {item}{f' at {euros(cents)}' if prices else ''}"
                         for quantity, item, cents in lines)

    def _why_no_refund(self, order: str, status: str) -> str:
        """Say why an order cannot be refunded, and what can be done instead."""
        if status == "placed":
            return f"order {order} is not shipped yet; use cancel_order, which pays all of it back"
        if status == "shipped":
            return f"order {order} is still on its way; it can be refunded once it is delivered"
        cents, _ = self._paid_back(order)
        return f"order {order} was already {status}, and {euros(cents)} were paid back; an order is paid back once"
