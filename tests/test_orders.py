"""The shop's orders: what the tools say, what they refuse, and that no money is paid twice, whatever happens."""

import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlib.tools import Toolbox
from agentlib.world import records
from agentlib.world.orders import Orders
from agentlib.world.shop import euros, in_cents, open_shop


@pytest.fixture
def orders():
    with closing(Orders()) as opened:
        yield opened


def money(orders: Orders) -> dict[str, tuple[int, int]]:
    """Give for each order what was paid and what was paid back, read from the tables, in cents."""
    rows = orders.query("SELECT o.id, (SELECT sum(quantity * cents) FROM order_lines WHERE order_id = o.id),"
                        " (SELECT coalesce(sum(cents), 0) FROM refunds WHERE order_id = o.id) FROM orders o")
    return {order: (paid, back) for order, paid, back in rows}


# What they say


def test_an_order_is_looked_up_by_its_id(orders):
    assert orders.lookup_order("A-1017") == (
        "Order A-1017 of Amara Okafor. Status: delivered. Placed on 2025-02-15, shipped on 2025-02-16, delivered on"
        " 2025-02-20. Items: 1 × desk lamp at EUR 34.90, 3 × notebook at EUR 4.50. Paid: EUR 48.40. Refunded: nothing.")
    assert orders.lookup_order(" a-1017 ") == orders.lookup_order("A-1017")


def test_a_customers_orders_are_listed_all_or_those_with_a_status(orders):
    assert orders.find_orders("Mei Chen", "shipped") == (
        "A-1044 shipped: 1 × umbrella, 2 × notebook, paid EUR 30.50\nA-1051 shipped: 1 × tea pot, paid EUR 31.50")
    assert len(orders.find_orders("mei chen").splitlines()) == 5
    assert orders.find_orders("Mei Chen", "cancelled") == "Mei Chen has no orders that are cancelled."
    assert orders.find_orders("Diego Fernandez") == orders.find_orders("Diego Fernández")  # as a model may write it


def test_the_shop_opens_with_orders_that_make_sense(orders):
    statuses = dict(orders.query("SELECT status, count(*) FROM orders GROUP BY status"))
    assert sum(statuses.values()) == 60 and set(statuses) == {"placed", "shipped", "delivered", "cancelled", "refunded"}
    for order, (paid, back) in money(orders).items():
        ((status, placed, shipped, delivered),) = orders.query(
            "SELECT status, placed, shipped, delivered FROM orders WHERE id = ?", order)
        assert paid > 0 and back == (paid if status in ("refunded", "cancelled") else 0)
        assert bool(shipped) == (status in ("shipped", "delivered", "refunded"))
        assert bool(delivered) == (status in ("delivered", "refunded"))
        assert placed < (shipped or "9") < (delivered or "99")


# What they do


def test_a_part_is_refunded_and_the_order_says_so(orders):
    said = orders.refund("A-1017", 34.90, "the lamp arrived broken")
    assert said == "Refunded EUR 34.90 of the EUR 48.40 paid for order A-1017 to Amara Okafor."
    assert "Status: refunded" in orders.lookup_order("A-1017")
    assert "Refunded: EUR 34.90 (the lamp arrived broken)" in orders.lookup_order("A-1017")


def test_a_cancelled_order_is_paid_back_in_full(orders):
    assert orders.cancel_order("A-1020") == "Cancelled order A-1020; Tom Baker gets EUR 42.00 back."
    assert money(orders)["A-1020"] == (4200, 4200)


# What they refuse, and what they say then


@pytest.mark.parametrize(("call", "said"), [
    (("lookup_order", "A-9999"), "there is no order A-9999; order ids look like A-1042; find_orders lists"),
    (("lookup_order", "1017"), "Did you mean A-1017?"),
    (("lookup_order", ""), "there is no order"),
    (("find_orders", "Chen"), "may be Mei Chen or Wei Chen; give the full name"),
    (("find_orders", "Mei Chan"), "Did you mean Mei Chen"),
    (("find_orders", "Nobody Known"), "Give the full name, for example Mei Chen."),
    (("find_orders", ""), "there is no customer"),
    (("refund", "A-1017", 48.41, "broken"), "more than was paid for order A-1017; refund at most EUR 48.40"),
    (("refund", "A-1017", 0, "broken"), "give euros above 0"), (("refund", "A-1017", -5.0, "broken"), "above 0"),
    (("refund", "A-1017", 12.345, "broken"), "at most two decimals"),
    (("refund", "A-1017", float("nan"), "broken"), "no amount"), (("refund", "A-1017", float("inf"), "x"), "no amount"),
    (("refund", "A-1017", 34.9, "  "), "reason: say"),
    (("refund", "A-1012", 1.0, "broken"), "already refunded, and EUR 24.00 were paid back"),
    (("refund", "A-1020", 1.0, "broken"), "use cancel_order"), (("refund", "A-1042", 1.0, "x"), "once it is delivered"),
    (("refund", "A-1021", 1.0, "broken"), "already cancelled"),
    (("cancel_order", "A-1042"), "order A-1042 is shipped, and only an order that is not shipped yet can be cancelled"),
    (("cancel_order", "A-1017"), "use refund"), (("cancel_order", "A-1021"), "is cancelled"),
])
def test_what_is_refused_changes_nothing_and_says_what_to_do(orders, call, said):
    before = orders.query("SELECT * FROM orders"), money(orders)
    name, *arguments = call
    with pytest.raises(ValueError) as error:
        getattr(orders, name)(*arguments)
    assert said in str(error.value) and "\n" not in str(error.value)
    assert (orders.query("SELECT * FROM orders"), money(orders)) == before


@pytest.mark.parametrize("second", [("refund", "A-1017", 1.0, "again"), ("cancel_order", "A-1017")])
def test_nothing_is_paid_back_twice(orders, second):
    orders.refund("A-1017", 34.90, "the lamp arrived broken")
    name, *arguments = second
    with pytest.raises(ValueError):
        getattr(orders, name)(*arguments)
    assert money(orders)["A-1017"] == (4840, 3490)


def test_the_same_refund_again_gets_its_result_and_pays_nothing(orders):
    first = orders.refund("A-1017", 34.90, "the lamp arrived broken")
    after = orders.query("SELECT * FROM orders"), orders.query("SELECT * FROM refunds")
    again = orders.refund(" a-1017", 34.9, " the lamp arrived broken ")
    assert again == first[:-1] + "; it had been paid before, and was not paid again."
    assert (orders.query("SELECT * FROM orders"), orders.query("SELECT * FROM refunds")) == after


@pytest.mark.parametrize("second", [(34.90, "the notebook is torn"), (4.50, "the lamp arrived broken")])
def test_another_amount_or_reason_is_another_refund_and_refused(orders, second):
    orders.refund("A-1017", 34.90, "the lamp arrived broken")
    with pytest.raises(ValueError, match=r"already refunded, and EUR 34\.90 were paid back"):
        orders.refund("A-1017", *second)
    assert money(orders)["A-1017"] == (4840, 3490)


def test_a_cancelled_order_is_not_taken_for_a_refunded_one(orders):
    orders.cancel_order("A-1020")
    ((cents, reason),) = orders.query("SELECT cents, reason FROM refunds WHERE order_id = 'A-1020'")
    with pytest.raises(ValueError, match="already cancelled"):
        orders.refund("A-1020", cents / 100, reason)


def test_the_tables_themselves_refuse_a_second_refund(orders):
    orders.refund("A-1017", 34.90, "broken")
    with pytest.raises(sqlite3.IntegrityError), orders._transaction("IMMEDIATE"):
        orders._pay_back("A-1017", 100, "again", "refunded")
    assert money(orders)["A-1017"] == (4840, 3490)


WRITES = st.tuples(st.sampled_from(["refund", "cancel_order"]), st.sampled_from([f"A-{n}" for n in range(1000, 1062)]),
                   st.integers(-100, 60_000))


@settings(max_examples=60)
@given(st.lists(WRITES, max_size=40))
def test_money_is_conserved_whatever_is_called(writes):
    with closing(Orders()) as orders:
        for name, order, cents in writes:
            before = money(orders)
            try:
                said = orders.refund(order, cents / 100, "x") if name == "refund" else orders.cancel_order(order)
            except ValueError:
                assert money(orders) == before
                continue
            paid, back = money(orders)[order]
            assert euros(back) in said and back == (cents if name == "refund" else paid)
            assert before[order] == (paid, back if "not paid again" in said else 0)
            assert {**money(orders), order: before[order]} == before  # and nobody else's changed
        assert all(back <= paid for paid, back in money(orders).values())


@given(st.integers(1, 10**8))
def test_every_amount_of_cents_survives_being_a_number_in_json(cents):
    assert in_cents(cents / 100) == cents and euros(cents) == f"EUR {cents / 100:.2f}"


# Threads, files, copies


def attempt(orders: Orders, name: str, *arguments: object) -> bool:
    """Call a tool; say whether it did now what it was asked."""
    try:
        return "not paid again" not in getattr(orders, name)(*arguments)
    except ValueError:
        return False


def test_of_many_refunds_at_once_one_is_paid(orders):
    delivered = [order for (order,) in orders.query("SELECT id FROM orders WHERE status = 'delivered'")]
    with ThreadPoolExecutor(8) as pool:
        jobs = [(order, pool.submit(attempt, orders, "refund", order, 4.5, "late")) for order in delivered * 8]
        done = [order for order, job in jobs if job.result()]
    assert sorted(done) == delivered


def test_of_different_refunds_at_once_one_is_paid_and_the_others_are_refused(orders):
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(attempt, orders, "refund", "A-1017", float(euro), "late") for euro in range(1, 9)]
        paid = [euro for euro, job in enumerate(jobs, 1) if job.result()]
    assert len(paid) == 1 and money(orders)["A-1017"] == (4840, 100 * paid[0])


def test_reads_and_writes_at_once_see_whole_orders(orders):
    with ThreadPoolExecutor(8) as pool:
        reads = [pool.submit(orders.lookup_order, "A-1020") for _ in range(40)]
        pool.submit(orders.cancel_order, "A-1020").result()
        reads += [pool.submit(orders.lookup_order, "A-1020") for _ in range(40)]
        seen = {read.result() for read in reads}
    assert all(("Status: placed" in text) == ("Refunded: nothing" in text) for text in seen)


def test_a_file_keeps_what_was_done(tmp_path):
    path = tmp_path / "shop.db"
    with closing(Orders(path)) as first:
        first.refund("A-1017", 34.90, "broken")
    with closing(Orders(path)) as second:
        assert money(second)["A-1017"] == (4840, 3490) and not attempt(second, "refund", "A-1017", 1.0, "again")


def test_two_programs_on_one_file_pay_once(tmp_path):
    shops = [Orders(tmp_path / "shop.db") for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(attempt, shop, "refund", "A-1017", 10.0, "late") for shop in shops]
        assert sum(job.result() for job in jobs) == 1
    assert money(shops[0])["A-1017"] == (4840, 1000)
    for shop in shops:
        shop.close()


@pytest.mark.parametrize("write", [
    lambda path: path.write_text("not a database, but quite a long text of some other kind"),
    lambda path: sqlite3.connect(path).execute("CREATE TABLE other (x)").connection.close(),
])
def test_another_file_is_refused_in_one_line(tmp_path, write):
    write(tmp_path / "other.db")
    with pytest.raises(ValueError, match=r"other\.db.*database") as error:
        Orders(tmp_path / "other.db")
    assert "\n" not in str(error.value)


def test_a_start_that_breaks_off_leaves_an_empty_file_that_can_be_opened(tmp_path, monkeypatch):
    def broken(name: str) -> list:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("agentlib.world.shop.read_records", broken)
        open_shop(tmp_path / "shop.db")
    assert records.read_records("orders.jsonl")
    with closing(Orders(tmp_path / "shop.db")) as orders:
        assert len(money(orders)) == 60


def test_each_copy_is_a_shop_of_its_own(orders):
    orders.refund("A-1017", 34.90, "broken")
    with closing(pickle.loads(pickle.dumps(orders))) as copy, closing(Orders()) as fresh:
        assert copy.lookup_order("A-1017") == orders.lookup_order("A-1017") != fresh.lookup_order("A-1017")
        copy.cancel_order("A-1020")
        assert "Status: placed" in orders.lookup_order("A-1020")
        assert not attempt(copy, "refund", "A-1017", 1.0, "again")


# As tools


def test_the_tools_that_write_are_marked(orders):
    assert {tool.name: tool.writes for tool in orders.tools} == {
        "find_orders": False, "lookup_order": False, "refund": True, "cancel_order": True}


def test_the_tools_run_from_json_and_errors_become_observations(orders):
    toolbox = Toolbox(orders.tools)
    assert toolbox.run("lookup_order", '{"order_id": "A-1042"}').text.startswith("Order A-1042 of Noor Haddad")
    assert toolbox.run("find_orders", '{"customer": "Mei Chen", "status": "lost"}').kind == "bad_arguments"
    refused = toolbox.run("refund", '{"order_id": "A-1017", "amount": 99, "reason": "broken"}')
    assert refused.kind == "tool_error" and "refund at most EUR 48.40" in refused.text
    done = toolbox.run("refund", '{"order_id": "A-1017", "amount": "34.90", "reason": "broken"}')
    assert done.kind == "ok" and "EUR 34.90" in done.text
