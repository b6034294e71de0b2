#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "coherently/pairs.hpp"
#include "coherently/projections.hpp"

namespace coherently::bindings {
namespace {

using Writable = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Owns copies of the groups, so that no view outlives its array.
class Projector {
public:
    Projector(Vector<std::int64_t> starts, Vector<std::int32_t> members, Vector<std::int32_t> pattern,
              std::vector<Matrix<double>> patterns, Vector<double> weights)
        : starts_(copy(starts)), members_(copy(members)), pattern_(copy(pattern)), weights_(copy(weights)),
          projector_({starts_, members_, pattern_}, to_patterns(patterns), weights_) {
        check(patterns);
    }

    double sweep(Writable x) {
        check_length(x, weights_.size());
        nb::gil_scoped_release release;
        return projector_.sweep({x.data(), x.size()});
    }

    void dykstra(Writable x, Writable increments) {
        check_length(x, weights_.size());
        check_length(increments, members_.size());
        nb::gil_scoped_release release;
        projector_.sweep({x.data(), x.size()}, {increments.data(), increments.size()});
    }

    double violation(Vector<double> x) {
        if (x.size() != weights_.size()) throw nb::value_error("an array has the wrong length");
        nb::gil_scoped_release release;
        return projector_.violation(view(x));
    }

private:
    template <typename T>
    static std::vector<T> copy(const Vector<T>& array) {
        return {array.data(), array.data() + array.size()};
    }

    static std::vector<Pattern> to_patterns(const std::vector<Matrix<double>>& matrices) {
        std::vector<Pattern> patterns;
        for (const auto& matrix : matrices)
            patterns.emplace_back(std::vector<double>(matrix.data(), matrix.data() + matrix.size()), matrix.shape(1));
        return patterns;
    }

    static void check_length(const Writable& array, std::size_t length) {
        if (array.size() != length) throw nb::value_error("an array has the wrong length");
    }

    void check(const std::vector<Matrix<double>>& patterns) const {
        if (starts_.size() != pattern_.size() + 1 || starts_.front() != 0 ||
            static_cast<std::size_t>(starts_.back()) != members_.size())
            throw nb::value_error("starts must cover members, one entry a group");
        for (std::size_t g = 0; g < pattern_.size(); ++g) {
            if (pattern_[g] < 0 || static_cast<std::size_t>(pattern_[g]) >= patterns.size())
                throw nb::index_error("a pattern is out of range");
            const auto& matrix = patterns[static_cast<std::size_t>(pattern_[g])];
            if (starts_[g + 1] - starts_[g] != static_cast<std::int64_t>(matrix.shape(1)) || matrix.shape(0) == 0)
                throw nb::value_error("a group and its pattern differ in size");
        }
        for (const std::int32_t member : members_)
            if (member < 0 || static_cast<std::size_t>(member) >= weights_.size())
                throw nb::index_error("a member is out of range");
    }

    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> members_, pattern_;
    std::vector<double> weights_;
    GroupProjector projector_;
};

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
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int32_t>, std::vector<Matrix<double>>,
                      Vector<double>>(),
             nb::arg("starts"), nb::arg("members"), nb::arg("pattern"), nb::arg("patterns"), nb::arg("weights"))
        .def("sweep", &Projector::sweep, nb::arg("x").noconvert())
        .def("dykstra", &Projector::dykstra, nb::arg("x").noconvert(), nb::arg("increments").noconvert())
        .def("violation", &Projector::violation, nb::arg("x"));
    module.def("solve_pairs", &pairs, nb::arg("weight"), nb::arg("target"), nb::arg("first"), nb::arg("second"),
               nb::arg("starts"), nb::arg("events"), nb::arg("tolerance"), nb::arg("max_iterations"),
               nb::arg("threads"));
}

}  // namespace coherently::bindings
