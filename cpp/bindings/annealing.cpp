#include "coherently/mixture/annealing.hpp"

#include <limits>

#include "functions.hpp"

namespace coherently::bindings {
namespace {

WeightedFunctions weighted(const FunctionsHandle& functions, std::vector<double> weight, std::vector<double> target) {
    return {functions.n_variables, functions.starts,  functions.variables, functions.word_starts,
            functions.words,       std::move(weight), std::move(target)};
}

void check_starts(const std::vector<std::int64_t>& starts, std::size_t rows, std::size_t length) {
    if (starts.size() != rows + 1 || starts.front() != 0 || static_cast<std::size_t>(starts.back()) != length)
        throw nb::value_error("starts must cover their array, one entry per function");
    for (std::size_t i = 0; i < rows; ++i)
        if (starts[i + 1] < starts[i]) throw nb::value_error("starts must ascend");
}

void check(const WeightedFunctions& functions, std::size_t columns) {
    check_starts(functions.starts, functions.size(), functions.variables.size());
    check_starts(functions.word_starts, functions.size(), functions.words.size());
    if (functions.target.size() != functions.size()) throw nb::value_error("an array has the wrong length");
    if (functions.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) / 4)
        throw nb::value_error("too many functions");
    if (columns == 0) throw nb::value_error("columns must be 1 or more");
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const Function f = functions.at(i);
        const std::size_t n = f.variables.size();
        const bool table = f.kind == FunctionKind::table;
        if (f.words.size() != (table ? table_words(n) : words_for(n) + words_for(n + 1)))
            throw nb::value_error("a function has the wrong number of words");
        for (std::size_t j = 0; j < n; ++j)
            if (f.variables[j] < (j ? f.variables[j - 1] + 1 : 0) ||
                static_cast<std::size_t>(f.variables[j]) >= functions.n_variables)
                throw nb::index_error("variables must ascend within range");
    }
}

void construct(Annealer* self, const FunctionsHandle& events, Vector<double> weight, Vector<double> target,
               std::size_t columns, std::uint64_t seed) {
    WeightedFunctions functions = weighted(events, copy(weight), copy(target));
    check(functions, columns);
    nb::gil_scoped_release release;
    new (self) Annealer(std::move(functions), columns, seed);
}

void check_moves(const WeightedFunctions& functions, std::size_t columns, const Moves& moves) {
    const std::size_t sets = moves.starts.size() - 1;
    check_starts(moves.starts, sets, moves.variables.size());
    for (const std::int32_t v : moves.variables)
        if (v < 0 || static_cast<std::size_t>(v) >= functions.n_variables)
            throw nb::index_error("a variable is out of range");
    if (moves.state_starts.size() != sets + 1 || moves.state_starts.front() != 0)
        throw nb::value_error("state_starts must have one entry per set");
    std::size_t length = 0;
    for (std::size_t i = 0; i < sets; ++i) {
        if (moves.state_starts[i + 1] <= moves.state_starts[i]) throw nb::value_error("a set must have states");
        length += static_cast<std::size_t>(moves.state_starts[i + 1] - moves.state_starts[i]) *
                  static_cast<std::size_t>(moves.starts[i + 1] - moves.starts[i]);
    }
    if (length != moves.states.size() || moves.worlds.size() != columns * functions.n_variables ||
        moves.law_truth.size() != moves.laws.size())
        throw nb::value_error("an array has the wrong length");
    for (const std::uint8_t value : moves.worlds)
        if (value > 1) throw nb::value_error("worlds are 0 or 1");
    for (const std::int32_t slot : moves.slots)
        if (slot < 0 || static_cast<std::size_t>(slot) >= sets) throw nb::index_error("a slot is out of range");
    if (sets > 0 && moves.slots.empty()) throw nb::value_error("there must be slots for the sets");
    check(moves.laws, columns);
}

// One row per term: joint, condition, joint_turned, condition_turned, hard; and low, high, weight.
std::vector<RatioTerm> to_terms(const Matrix<std::int32_t>& about, const Matrix<double>& said, std::size_t functions) {
    if (about.shape(1) != 5 || said.shape(1) != 3 || about.shape(0) != said.shape(0))
        throw nb::value_error("terms have 5 integers and 3 other numbers each");
    std::vector<RatioTerm> terms;
    for (std::size_t i = 0; i < about.shape(0); ++i) {
        const std::int32_t* a = about.data() + 5 * i;
        const double* s = said.data() + 3 * i;
        const auto limit = static_cast<std::int32_t>(functions);
        if (a[0] < 0 || a[0] >= limit || a[1] < -1 || a[1] >= limit) throw nb::index_error("a term is out of range");
        terms.push_back({a[0], a[1], a[2] != 0, a[3] != 0, a[4] != 0, s[0], s[1], s[2]});
    }
    return terms;
}

void construct_with_moves(Annealer* self, const FunctionsHandle& events, Vector<double> weight, Vector<double> target,
                          std::size_t columns, std::uint64_t seed, Matrix<std::int32_t> terms, Matrix<double> said,
                          Vector<std::int64_t> set_starts, Vector<std::int32_t> set_variables,
                          Vector<std::int64_t> state_starts, Vector<std::uint8_t> states, Vector<std::int32_t> slots,
                          const FunctionsHandle& laws, Vector<std::uint8_t> law_truth, Matrix<std::uint8_t> worlds) {
    WeightedFunctions functions = weighted(events, copy(weight), copy(target));
    check(functions, columns);
    const std::vector<double> none(law_truth.size());
    Moves moves{copy(set_starts),
                copy(set_variables),
                copy(state_starts),
                copy(states),
                {},
                copy(slots),
                weighted(laws, none, none),
                copy(law_truth),
                {worlds.data(), worlds.data() + worlds.size()}};
    if (moves.starts.empty()) throw nb::value_error("starts must cover their array, one entry per set");
    check_moves(functions, columns, moves);
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < moves.starts.size(); ++i) {
        moves.places.push_back(place);
        place += static_cast<std::size_t>(moves.state_starts[i + 1] - moves.state_starts[i]) *
                 static_cast<std::size_t>(moves.starts[i + 1] - moves.starts[i]);
    }
    std::vector<RatioTerm> all = to_terms(terms, said, functions.size());
    nb::gil_scoped_release release;
    new (self) Annealer(std::move(functions), columns, seed, std::move(all), std::move(moves));
}

}  // namespace

void bind_annealing(nb::module_& module) {
    const auto without_gil = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<Annealer>(module, "Annealer")
        .def("__init__", &construct, nb::arg("functions"), nb::arg("weight"), nb::arg("target"), nb::arg("columns"),
             nb::arg("seed"))
        .def("__init__", &construct_with_moves, nb::arg("functions"), nb::arg("weight"), nb::arg("target"),
             nb::arg("columns"), nb::arg("seed"), nb::arg("terms"), nb::arg("said"), nb::arg("set_starts"),
             nb::arg("set_variables"), nb::arg("state_starts"), nb::arg("states"), nb::arg("slots"), nb::arg("laws"),
             nb::arg("law_truth"), nb::arg("worlds"))
        .def("choices", &Annealer::choices)
        .def("roughness", &Annealer::roughness, nb::arg("samples"), without_gil)
        .def("advance", &Annealer::advance, nb::arg("steps"), nb::arg("temperature"), without_gil)
        .def("harden", &Annealer::harden)
        .def("descend", &Annealer::descend, nb::arg("steps"), without_gil)
        .def("counts", [](const Annealer& annealer) { return give(annealer.counts()); })
        .def("worlds", [](const Annealer& annealer) {
            return give(annealer.worlds(), {annealer.columns(), annealer.n_variables()});
        });
}

}  // namespace coherently::bindings
