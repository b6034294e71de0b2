"""Batches of reports of forecasting-tools, by its published types, and with the real package where it is installed."""

import importlib.util

import pydantic
import pytest

import coherently as co


class StandInOption(pydantic.BaseModel):
    option_name: str
    probability: float


class StandInOptions(pydantic.BaseModel):
    predicted_options: list[StandInOption]


class StandInQuestion(pydantic.BaseModel):
    question_text: str
    id_of_question: int | None = None


class StandInReport(pydantic.BaseModel):
    question: StandInQuestion
    explanation: str = "# Why"
    other_notes: str | None = None
    prediction: object


def stand_ins():
    def binary(number, text, value):
        return StandInReport(question=StandInQuestion(question_text=text, id_of_question=number), prediction=value)

    def several(number, text, shares):
        options = [StandInOption(option_name=name, probability=share) for name, share in shares.items()]
        question = StandInQuestion(question_text=text, id_of_question=number)
        return StandInReport(question=question, prediction=StandInOptions(predicted_options=options))

    return binary, several


def real_ones():
    from forecasting_tools.data_models.binary_report import BinaryReport
    from forecasting_tools.data_models.multiple_choice_report import (
        MultipleChoiceReport,
        PredictedOption,
        PredictedOptionList,
    )
    from forecasting_tools.data_models.questions import BinaryQuestion, MultipleChoiceQuestion

    BinaryReport.model_rebuild(_types_namespace={"BinaryQuestion": BinaryQuestion})

    def binary(number, text, value):
        question = BinaryQuestion(question_text=text, id_of_question=number)
        return BinaryReport(question=question, explanation="# Why", prediction=value)

    def several(number, text, shares):
        question = MultipleChoiceQuestion(question_text=text, id_of_question=number, options=list(shares))
        options = [PredictedOption(option_name=name, probability=share) for name, share in shares.items()]
        prediction = PredictedOptionList(predicted_options=options)
        return MultipleChoiceReport(question=question, explanation="# Why", prediction=prediction)

    return binary, several


KINDS = [stand_ins]
if importlib.util.find_spec("forecasting_tools"):  # its import asks the network for prices, and takes seconds
    KINDS.append(real_ones)
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_reports_come_back_coherent_as_copies_in_their_order(kind):
    binary, several = kind()
    given = [
        binary(1, "Cut by June?", 0.6),
        binary(2, "Cut by December?", 0.4),
        several(3, "Who wins?", {"Ann": 0.5, "Bob": 0.3, "Somebody else": 0.2}),
        binary(4, "Does Ann win?", 0.7),
        binary(None, "Will it rain?", 0.25),
    ]
    found = co.agents.coherent_reports(given, laws=["q1 -> q2", "q4 <-> q3 = Ann"])
    june, december, winner, ann, rain = (report.prediction for report in found)
    assert (june, december) == pytest.approx((0.5, 0.5))
    shares = [option.probability for option in winner.predicted_options]
    assert sum(shares) == pytest.approx(1)
    assert shares[0] == pytest.approx(ann)
    assert rain == 0.25
    assert found[0].other_notes == "Made coherent with the other questions of the batch: 0.6 -> 0.5."
    assert found[4].other_notes is None
    assert given[0].prediction == 0.6
    assert [type(report) for report in found] == [type(report) for report in given]
    assert [report.question for report in found] == [report.question for report in given]


@every_kind
def test_questions_may_be_formulas_of_others_by_id_or_text(kind):
    binary, _ = kind()
    given = [binary(1, "A?", 0.3), binary(2, "B?", 0.4), binary(None, "Both?", 0.6)]
    found = co.agents.coherent_reports(given, events={"Both?": "q1 & q2"})
    assert found[2].prediction <= min(found[0].prediction, found[1].prediction) + 1e-6
    again = co.agents.coherent_reports(given, events={1: "a", 2: "b", "Both?": "a & b"})
    assert [one.prediction for one in again] == pytest.approx([one.prediction for one in found])


def test_other_reports_are_left_alone_and_other_things_are_refused():
    binary, _ = stand_ins()
    numeric = StandInReport(question=StandInQuestion(question_text="How many?", id_of_question=9), prediction="a cdf")
    assert co.agents.coherent_reports([numeric, binary(1, "A?", 0.2)])[0] is numeric
    assert co.agents.coherent_reports([numeric]) == [numeric]
    assert co.agents.coherent_reports([]) == []
    with pytest.raises(co.PanelError, match="item 1 of the batch is a float without question"):
        co.agents.coherent_reports([binary(1, "A?", 0.2), 0.3])
