"""The table of relations: every noun asks for its relation, and each way to ask for a fact or to state it is used."""

import pytest
from test_offline_loop import run

from agentlib.offline.needs import Fact, Weather
from agentlib.offline.questions import understand
from agentlib.offline.relations import BY_NAME, TABLE

IN_NAMES = ("university", "college", "school", "Nobel Prize", "country", "nation", "city", "place", "town")
NOUNS = [(f"What is DeepMind's {noun}?", row.name) for row in TABLE for noun in row.nouns if row.name != "capital_of"]
NOUNS += [(f"What is the {noun} of DeepMind?", row.name) for row in TABLE for noun in row.nouns if noun not in IN_NAMES]


@pytest.mark.parametrize(("question", "relation"), NOUNS)
def test_a_noun_asks_for_its_relation(question, relation):
    need = understand(question)
    assert isinstance(need, Fact) and need.relation == relation


@pytest.mark.parametrize(("question", "relation"), [
    ("By whom is DeepMind managed?", "ceo"), ("Who is in charge of DeepMind?", "ceo"),
    ("Who is in charge at DeepMind?", "ceo"), ("Which company does DeepMind belong to?", "owner"),
    ("To which company does DeepMind belong?", "owner"), ("Where does DeepMind keep its head office?", "headquarters"),
    ("Where is DeepMind's head office located?", "headquarters"), ("Where is the seat of DeepMind?", "headquarters"),
    ("Which subject did Ada Lovelace study?", "subject"), ("Where is Ada Lovelace from?", "born_in"),
    ("Tell me where Ada Lovelace died.", "died_in"), ("Do you know when Ada Lovelace was born?", "born"),
    ("Which prize was Ada Lovelace awarded?", "prize"), ("What did Ada Lovelace win the Nobel Prize for?", "prize"),
    ("In which field did Ada Lovelace win the Nobel Prize?", "prize"), ("Who painted Guernica?", "author"),
    ("By whom was Guernica painted?", "author"), ("When did Mary Shelley write Frankenstein?", "published"),
    ("When was the Eiffel Tower built?", "built"), ("When did the Eiffel Tower open?", "built"),
    ("Which books did Ada Lovelace write?", "works"), ("How many people does Oslo have?", "population"),
    ("How big is Norway?", "area"), ("Which symbol does gold have?", "symbol"),
    ("Which money does Norway use?", "currency"), ("Which languages do people speak in Norway?", "language"),
    ("Which language do they speak in Norway?", "language"), ("Which languages does Norway have?", "language"),
    ("Who is Ada Lovelace married to?", "spouse"), ("Who did Ada Lovelace marry?", "spouse"),
    ("Who does Ada Lovelace work for?", "company"), ("To whom was the Booker Prize awarded?", "winner"),
    ("By whom was radium discovered?", "discoverer"), ("In which country is Oslo the capital?", "capital_of"),
    ("Of which country is Oslo the capital?", "capital_of"), ("When was Ada Lovelace awarded a prize?", "prize_year"),
])
def test_a_question_asks_for_a_relation(question, relation):
    need = understand(question)
    assert isinstance(need, Fact) and need.relation == relation
    assert need.of.text in ("DeepMind", "Ada Lovelace", "Guernica", "Frankenstein", "Eiffel Tower", "Oslo", "Norway",
                            "gold", "Booker Prize", "radium")


@pytest.mark.parametrize(("question", "what"), [
    ("What will the weather be like in Oslo?", "all"), ("How is the weather in Oslo?", "all"),
    ("How does it feel in Oslo?", "all"), ("How many degrees is it in Oslo?", "temperature"),
    ("What temperature does Oslo have?", "temperature"), ("How strong is the wind in Oslo?", "wind"),
    ("Should I take a coat to Oslo?", "cold"), ("Do I need sunglasses in Oslo?", "sun"),
    ("Is it foggy in Oslo?", "fog"), ("Will it snow in Oslo?", "snow"),
])
def test_a_question_asks_for_weather(question, what):
    assert understand(question) == Weather(what, understand("What is the weather in Oslo?").place)


@pytest.mark.parametrize(("relation", "sentence", "expected"), [
    ("ceo", "It has been run since 2010 by its CEO, Ada Bell.", "Ada Bell"),
    ("ceo", "Ada Bell took over as chief executive of X1.", "Ada Bell"), ("ceo", "Ada Bell heads it.", "Ada Bell"),
    ("ceo", "Its director is Ada Bell.", "Ada Bell"), ("ceo", "It is led by chief executive Ada Bell.", "Ada Bell"),
    ("founder", "Its founders are Ada Bell and Bo Carr.", "Ada Bell and Bo Carr"),
    ("founder", "Ada Bell started it in a garage.", "Ada Bell"), ("founded", "It dates back to 1931.", "1931"),
    ("capital", "Its capital is Bern.", "Bern"), ("capital", "Bern is its capital.", "Bern"),
    ("headquarters", "Its main office is now located in Bern.", "Bern"),
    ("headquarters", "It is based in Bern.", "Bern"),
    ("owner", "Its parent company is Acme.", "Acme"), ("owner", "It belongs to Acme.", "Acme"),
    ("owner", "Acme acquired the company.", "Acme"), ("studied_at", "She attended Yale University.", "Yale University"),
    ("studied_at", "She went to Yale University.", "Yale University"),
    ("studied_at", "Her alma mater is Yale University.", "Yale University"),
    ("born_in", "She is a native of Bern.", "Bern"), ("born", "She (1901-1977) was a chemist.", "1901"),
    ("died", "She (1901-1977) was a chemist.", "1977"), ("prize_year", "She received the medal in 1951.", "1951"),
    ("prize_year", "She has the 1951 Nobel Prize in Physics.", "1951"),
    ("author", "Its author is Ada Bell.", "Ada Bell"),
    ("author", "It was painted by Ada Bell.", "Ada Bell"), ("author", "Ada Bell wrote it.", "Ada Bell"),
    ("built", "It was opened to the public in 1931.", "1931"), ("located", "It lies in Peru.", "Peru"),
    ("located", "It is a museum of art in Peru.", "Peru"), ("located", "It is on the border of Peru.", "Peru"),
    ("population", "It has 5,000 residents.", "5,000"), ("population", "Its population is about 5,000.", "5,000"),
    ("river", "The Aare flows through it.", "Aare"), ("height", "Its elevation is 542 metres.", "542 metres"),
    ("length", "Its length is 288 km.", "288 km"), ("area", "It covers 51 km².", "51 km²"),
    ("area", "It has 51 square kilometres.", "51"), ("symbol", "It (symbol Xx) is a metal.", "Xx"),
    ("spouse", "She is married to Bo Carr.", "Bo Carr"), ("spouse", "Her husband is Bo Carr.", "Bo Carr"),
    ("company", "She is one of the founders of Acme.", "Acme"), ("discoverer", "Ada Bell invented it.", "Ada Bell"),
    ("capital_of", "It is the capital of Peru.", "Peru"), ("nationality", "She was a Swiss chemist.", "Swiss"),
])
def test_a_sentence_states_a_relation(relation, sentence, expected):
    answer, _ = run(f"What is the {BY_NAME[relation].nouns[0]} of Zyx?",
                    functions={"search": lambda query: f"Zyx: {sentence}"})
    assert expected in answer and "could not find" not in answer


@pytest.mark.parametrize(("relation", "article", "expected"), [
    ("ceo", "Ada Bell: Ada Bell is the head of Zyx.", "Ada Bell"),
    ("capital", "Bern: It is the capital of Zyx.", "Bern"),
    ("founder", "Ada Bell: She set up Zyx.", "Ada Bell"), ("owner", "Acme: It bought Zyx.", "Acme"),
    ("author", "Ada Bell: She wrote Zyx.", "Ada Bell"), ("works", "Emma: Emma is a novel by Zyx.", "Emma"),
    ("winner", "Ada Bell: She won the Zyx.", "Ada Bell"), ("discoverer", "Ada Bell: She discovered Zyx.", "Ada Bell"),
])
def test_a_relation_may_be_stated_from_its_other_end(relation, article, expected):
    answer, _ = run(f"What is the {BY_NAME[relation].nouns[0]} of Zyx?", functions={"search": lambda query: article})
    assert expected in answer and "could not find" not in answer


@pytest.mark.parametrize(("question", "expected"), [
    ("Sum up the populations of Oslo and Berlin.", "4309000"),
    ("What is the height of K2 in feet?", "28251"), ("What is the height of K2 in km?", "8.611"),
    ("What is 25 °C in Fahrenheit?", "77"), ("What is 25 degrees Celsius in kelvin?", "298.15"),
    ("What is the length of the Rhine in miles?", "764."), ("What is the product of 12 and 11?", "132"),
    ("What is the ratio of 84 to 12?", "7"), ("Subtract 13 from 50.", "37"), ("What is half of 90?", "45"),
    ("What is the average of 10, 20 and 60?", "30"), ("Triple 15.", "45"), ("What is a third of 66?", "22"),
    ("What is a quarter of 66?", "16.5"), ("What is the square of 15?", "225"), ("What is 50 over 4?", "12.5"),
    ("Four friends share 48 sweets equally. How many does each of them get?", "12"),
    ("Anna has 12 books and buys 30 more. How many books does she have now?", "42"),
    ("How many hours does Zoe work if she works 5 days and each day 8 hours?", "40"),
])
def test_a_number_is_worked_out(question, expected):
    assert expected in run(question)[0]


@pytest.mark.parametrize(("question", "expected"), [
    ("Thank you very much!", "pleasure"), ("Goodbye!", "Goodbye"), ("How are you?", "rules"),
    ("Did Alan Turing die in 1954?", "Yes"), ("How many elements are there in Zyx?", "elements of Zyx"),
    ("What is the weather like?", "city"), ("How old was Alan Turing in the year when Apple was founded?", "64"),
    ("How long is the river that flows through Paris?", "777"), ("Where was whoever wrote Hamlet born?", "Stratford"),
])
def test_talk_claims_and_counts(question, expected):
    assert expected in run(question)[0]
