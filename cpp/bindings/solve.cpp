#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "coherently/pairs.hpp"
#include "projector.hpp"

namespace coherently::bindings {
namespace {

using Projector = OwningProjector<GroupProjector>;

std::tuple<NewArray<double>, NewArray<double>, double, double, int> pairs(
    Vector<double> weight, Vector<double> target, Vector<std::int32_t> first, Vector<std::int32_t> second,
    Vector<std::int64_t> starts, Matrix<double> events, double tolerance, int max_iterations,
    unsigned threads) {
    const std::size_t n = weight.size();
    if (target.size() != n || first.size() != second.size() || starts.size() != first.size() + 1 ||
        events.shape(1) != 5 || static_cast<std::size_t>(starts(first.size())) != events.shape(0))
        throw nb::value_error("arrays differ in length");
    for (std::size_t g = 0; g < first.size(); ++g)
        if (first(g) < 0 || second(g) < 0 || static_cast<std::size_t>(std::max(first(g), second(g))) >= n ||
            first(g) == second(g) || starts(g + 1) <= starts(g))
            throw nb::index_error("a group is out of range");
    static_assert(sizeof(PairEvent) == 5 * sizeof(double));
    const PairProblem problem{view(weight), view(target), view(first), view(second), view(starts),
                              {reinterpret_cast<const PairEvent*>(events.data()), events.shape(0)}};
    PairAnswer answer;
    {
        nb::gil_scoped_release release;
        answer = solve_pairs(problem, tolerance, max_iterations, threads);
    }
    return {give(std::move(answer.variables)), give(std::move(answer.events)), answer.objective, answer.lower_bound,
            answer.iterations};
}

}  // namespace

void bind_solve(nb::module_& module) {
    nb::class_<Projector>(module, "GroupProjector")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                      const std::vector<Matrix<double>>&, Vector<double>>(),
             nb::arg("starts"), nb::arg("members"), nb::arg("pattern"), nb::arg("patterns"), nb::arg("weights"))
        .def("sweep", &Projector::sweep, nb::arg("x").noconvert())
        .def("dykstra", &Projector::dykstra, nb::arg("x").noconvert(), nb::arg("increments").noconvert())
        .def("violation", &Projector::violation, nb::arg("x"));
    module.def("solve_pairs", &pairs, nb::arg("weight"), nb::arg("target"), nb::arg("first"), nb::arg("second"),
               nb::arg("starts"), nb::arg("events"), nb::arg("tolerance"), nb::arg("max_iterations"),
               nb::arg("threads"));
}

}  // namespace coherently::bindings
