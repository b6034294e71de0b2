#include "coherently/annealing.hpp"

#include <limits>

#include "arrays.hpp"

namespace coherently::bindings {
namespace {

template <typename T>
std::vector<T> copy(const Vector<T>& array) {
    return {array.data(), array.data() + array.size()};
}

void check_starts(const std::vector<std::int64_t>& starts, std::size_t rows, std::size_t length) {
    if (starts.size() != rows + 1 || starts.front() != 0 || static_cast<std::size_t>(starts.back()) != length)
        throw nb::value_error("starts must cover their array, one entry a function");
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

void construct(Annealer* self, std::size_t n_variables, Vector<std::int64_t> starts, Vector<std::int32_t> variables,
               Vector<std::int64_t> word_starts, Vector<std::uint64_t> words, Vector<double> weight,
               Vector<double> target, std::size_t columns, std::uint64_t seed) {
    WeightedFunctions functions{n_variables, copy(starts), copy(variables), copy(word_starts),
                                copy(words), copy(weight), copy(target)};
    check(functions, columns);
    nb::gil_scoped_release release;
    new (self) Annealer(std::move(functions), columns, seed);
}

}  // namespace

void bind_annealing(nb::module_& module) {
    const auto without_gil = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<Annealer>(module, "Annealer")
        .def("__init__", &construct, nb::arg("n_variables"), nb::arg("starts"), nb::arg("variables"),
             nb::arg("word_starts"), nb::arg("words"), nb::arg("weight"), nb::arg("target"), nb::arg("columns"),
             nb::arg("seed"))
        .def("roughness", &Annealer::roughness, nb::arg("samples"), without_gil)
        .def("advance", &Annealer::advance, nb::arg("steps"), nb::arg("temperature"), without_gil)
        .def("descend", &Annealer::descend, nb::arg("steps"), without_gil)
        .def("counts", [](const Annealer& annealer) { return give(annealer.counts()); })
        .def("worlds", [](const Annealer& annealer) {
            return give(annealer.worlds(), {annealer.columns(), annealer.n_variables()});
        });
}

}  // namespace coherently::bindings
