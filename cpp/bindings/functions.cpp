#include "functions.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "coherently/functions/components.hpp"
#include "coherently/functions/entailment.hpp"
#include "coherently/functions/satisfaction.hpp"

namespace coherently::bindings {
namespace {

constexpr std::size_t steps = 1'000;  // between two looks for Ctrl-C

void check_choices(const ChoiceView& choices, std::size_t n_variables) {
    if (choices.starts.empty() || choices.starts.size() != choices.ordered.size() + 1 ||
        choices.ordered.size() != choices.complete.size() || choices.starts.front() != 0 ||
        static_cast<std::size_t>(choices.starts.back()) != choices.atoms.size() ||
        !std::is_sorted(choices.starts.begin(), choices.starts.end()))
        throw nb::value_error("arrays differ in length");
    for (const std::int32_t atom : choices.atoms)
        if (atom < 0 || static_cast<std::size_t>(atom) >= n_variables) throw nb::index_error("an atom is out of range");
}

// A world in which event j is true if and only if truth[j] is, which obeys the choices and has the known values (1, 0;
// -1 is free); None if there is none.
std::optional<NewArray<std::uint8_t>> satisfy(const FunctionsHandle& functions, Vector<std::uint8_t> truth,
                                              Vector<std::int64_t> choice_starts, Vector<std::int32_t> choice_atoms,
                                              Vector<std::uint8_t> choice_ordered, Vector<std::uint8_t> choice_complete,
                                              Vector<std::int8_t> known) {
    const std::size_t n_variables = functions.n_variables;
    const ChoiceView choices{view(choice_starts), view(choice_atoms), view(choice_ordered), view(choice_complete)};
    check_choices(choices, n_variables);
    if (truth.size() != functions.size() || known.size() != n_variables)
        throw nb::value_error("arrays differ in length");
    Satisfaction search(functions.view(), view(truth), choices);
    for (std::size_t v = 0; v < n_variables; ++v)
        if (known(v) >= 0) search.fix(static_cast<std::int32_t>(v), known(v) == 1);
    auto answer = Satisfaction::Answer::open;
    while (answer == Satisfaction::Answer::open) {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        nb::gil_scoped_release release;
        answer = search.run(steps);
    }
    if (answer == Satisfaction::Answer::impossible) return std::nullopt;
    return give(search.world());
}

// Whether some world has all facts (None: not decided), and what they say about each question: 1, 0, -1 (open) or -2
// (not decided within so many conflicts).
std::tuple<std::optional<bool>, NewArray<std::int8_t>> entailed(
    const FunctionsHandle& facts, Vector<std::uint8_t> truth, const FunctionsHandle& questions,
    Vector<std::int64_t> choice_starts, Vector<std::int32_t> choice_atoms, Vector<std::uint8_t> choice_ordered,
    Vector<std::uint8_t> choice_complete, std::size_t max_conflicts) {
    const ChoiceView choices{view(choice_starts), view(choice_atoms), view(choice_ordered), view(choice_complete)};
    check_choices(choices, facts.n_variables);
    if (truth.size() != facts.size() || facts.n_variables != questions.n_variables)
        throw nb::value_error("arrays differ in length");
    const auto pause = [] {
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
    Entailment found;
    {
        nb::gil_scoped_release release;
        found = entail(facts.view(), view(truth), questions.view(), choices, max_conflicts, pause);
    }
    std::optional<bool> possible = !found.impossible;
    if (found.undecided_facts > 0) possible.reset();
    return {possible, give(std::move(found.answers))};
}

NewArray<std::uint8_t> evaluate_worlds(const FunctionsHandle& functions, Matrix<std::uint8_t> worlds) {
    const std::size_t n = functions.n_variables, m = functions.size();
    if (worlds.shape(1) != n) throw nb::value_error("arrays differ in length");
    std::vector<std::uint8_t> truth(worlds.shape(0) * m);
    {
        nb::gil_scoped_release release;
        evaluate(functions.view(), {worlds.data(), worlds.size()}, truth);
    }
    return give(std::move(truth), {worlds.shape(0), m});
}

NewArray<std::int32_t> components(Vector<std::int64_t> starts, Vector<std::int32_t> members, std::size_t n_members) {
    if (starts.size() == 0) throw nb::value_error("starts needs at least one entry");
    for (const std::int32_t member : view(members))
        if (member < 0 || static_cast<std::size_t>(member) >= n_members)
            throw nb::index_error("a member is out of range");
    for (std::size_t i = 0; i + 1 < starts.size(); ++i)
        if (starts(i) < 0 || starts(i + 1) < starts(i) || static_cast<std::size_t>(starts(i + 1)) > members.size())
            throw nb::value_error("starts must ascend within members");
    return give(connected_rows(view(starts), view(members), n_members));
}

}  // namespace

void bind_functions(nb::module_& module) {
    nb::class_<FunctionsHandle>(module, "Functions")
        .def(nb::init<std::size_t, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int64_t>,
                      Vector<std::uint64_t>>(),
             nb::arg("n_variables"), nb::arg("starts"), nb::arg("variables"), nb::arg("word_starts"), nb::arg("words"))
        .def_ro("n_variables", &FunctionsHandle::n_variables)
        .def("evaluate", &evaluate_worlds, nb::arg("worlds"));
    module.def("connected_rows", &components, nb::arg("starts"), nb::arg("members"), nb::arg("n_members"));
    module.def("satisfy", &satisfy, nb::arg("functions"), nb::arg("truth"), nb::arg("choice_starts"),
               nb::arg("choice_atoms"), nb::arg("choice_ordered"), nb::arg("choice_complete"), nb::arg("known"));
    module.def("entailed", &entailed, nb::arg("facts"), nb::arg("truth"), nb::arg("questions"),
               nb::arg("choice_starts"), nb::arg("choice_atoms"), nb::arg("choice_ordered"), nb::arg("choice_complete"),
               nb::arg("max_conflicts"));
}

}  // namespace coherently::bindings
