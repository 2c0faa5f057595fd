"""The database of a small shop: its tables, and the orders that it opens with.

Everything is made up. `orders.jsonl` holds the customers, the items and the orders, one a line. Money is whole cents.
"""

import sqlite3
from os import PathLike

from .records import read_records

WAIT = 30.0  # seconds that a write waits for another program that has the file

TABLES = (
    "CREATE TABLE customers (name TEXT PRIMARY KEY, email TEXT NOT NULL, city TEXT NOT NULL)",
    "CREATE TABLE items (name TEXT PRIMARY KEY, cents INTEGER NOT NULL CHECK (cents > 0))",
    """CREATE TABLE orders (
        id TEXT PRIMARY KEY, customer TEXT NOT NULL REFERENCES customers,
        status TEXT NOT NULL CHECK (status IN ('placed', 'shipped', 'delivered', 'cancelled', 'refunded')),
        placed TEXT NOT NULL, shipped TEXT, delivered TEXT)""",
    """CREATE TABLE order_lines (
        order_id TEXT NOT NULL REFERENCES orders, item TEXT NOT NULL REFERENCES items,
        quantity INTEGER NOT NULL CHECK (quantity > 0), cents INTEGER NOT NULL CHECK (cents > 0),
        PRIMARY KEY (order_id, item))""",
    # The primary key is the rule that an order is paid back once, whatever the program does.
    """CREATE TABLE refunds (
        order_id TEXT PRIMARY KEY REFERENCES orders, cents INTEGER NOT NULL CHECK (cents > 0), reason TEXT NOT NULL)""",
)
PAID = "SELECT sum(quantity * cents) FROM order_lines WHERE order_id = ?"


def open_shop(path: str | PathLike = ":memory:") -> sqlite3.Connection:
    """Open the database in a file, or one in memory; an empty one gets the tables and the orders of the shop.

    Any thread may use the connection, one at a time. Raises ValueError for a file that holds something else.
    """
    database = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("BEGIN IMMEDIATE")  # of two programs that open a new file, one fills it
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not names:
            _fill(database)
        elif not {"orders", "order_lines", "refunds"} <= names:
            raise ValueError(f"{path} is a database, but not that of the shop; give another path")
        database.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        database.close()
        raise ValueError(f"{path} cannot be opened as a database: {error}") from None
    except BaseException:
        database.close()
        raise
    return database


def _fill(database: sqlite3.Connection) -> None:
    """Make the tables and put in what the shop opens with."""
    for statement in TABLES:
        database.execute(statement)
    records = read_records("orders.jsonl")
    customers = [record for record in records if "email" in record]
    database.executemany("INSERT INTO customers VALUES (:customer, :email, :city)", customers)
    database.executemany("INSERT INTO items VALUES (:item, :cents)", [each for each in records if "cents" in each])
    for record in records:
        if "order" in record:
            _insert_order(database, record)


def _insert_order(database: sqlite3.Connection, record: dict) -> None:
    """Put in one order with its lines; one that was refunded or cancelled was paid back in full."""
    order = {"shipped": None, "delivered": None} | record
    database.execute("INSERT INTO orders VALUES (:order, :customer, :status, :placed, :shipped, :delivered)",
                     {key: value for key, value in order.items() if key != "items"})
    for item, quantity in record["items"].items():
        database.execute("INSERT INTO order_lines SELECT ?, name, ?, cents FROM items WHERE name = ?",
                         (record["order"], quantity, item))
    if record["status"] in ("refunded", "cancelled"):
        (paid,) = database.execute(PAID, (record["order"],)).fetchone()
        reason = record.get("reason", "cancelled before it was shipped")
        database.execute("INSERT INTO refunds VALUES (?, ?, ?)", (record["order"], paid, reason))


def euros(cents: int) -> str:
    """Write an amount: 1250 is EUR 12.50."""
    return f"EUR {cents // 100}.{cents % 100:02d}"


def in_cents(amount: float) -> int:
    """Read an amount in euros. Raises ValueError for what is no amount that can be paid."""
    exact = round(amount * 100) if isinstance(amount, int | float) and abs(amount) < 1e9 else 0  # NaN is not below
    if isinstance(amount, bool) or exact <= 0 or abs(amount * 100 - exact) > 1e-4:
        raise ValueError(f"amount: {amount!r} is no amount of money; give euros above 0 with at most two decimals, for"
                         " example 12.50")
    return exact
