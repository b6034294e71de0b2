#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "coherently/groups/bregman.hpp"
#include "coherently/groups/colours.hpp"
#include "coherently/groups/pairs.hpp"
#include "coherently/groups/projections.hpp"

namespace coherently::bindings {
namespace {

using Writable = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A projector with copies of its groups, so that no view outlives its array.
template <typename Projector>
class OwningProjector {
public:
    template <typename... Options>
    OwningProjector(Vector<std::int64_t> starts, Vector<std::int32_t> members, Vector<std::int32_t> pattern,
                    const std::vector<Matrix<double>>& patterns, Vector<double> weights,
                    std::optional<Vector<std::int64_t>> colours, unsigned threads, Options... options)
        : starts_(copy(starts)),
          members_(copy(members)),
          pattern_(copy(pattern)),
          weights_(copy(weights)),
          colours_(colours ? copy(*colours) : std::vector<std::int64_t>{}),
          projector_(Projector(options..., (check(patterns), GroupView{starts_, members_, pattern_}),
                               to_patterns(patterns), weights_),
                     pattern_.size(), colours_, threads) {}

    double sweep(Writable x) {
        check_length(x.size(), weights_.size());
        nb::gil_scoped_release release;
        return projector_.sweep({x.data(), x.size()});
    }

    void dykstra(Writable x, Writable increments) {
        check_length(x.size(), weights_.size());
        check_length(increments.size(), members_.size());
        nb::gil_scoped_release release;
        projector_.sweep({x.data(), x.size()}, {increments.data(), increments.size()});
    }

    bool is_quick() const { return projector_.first().is_quick(); }

    double violation(Vector<double> x) {
        check_length(x.size(), weights_.size());
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

    static void check_length(std::size_t found, std::size_t wanted) {
        if (found != wanted) throw nb::value_error("an array has the wrong length");
    }

    void check(const std::vector<Matrix<double>>& patterns) const {
        if (starts_.size() != pattern_.size() + 1 || starts_.front() != 0 ||
            static_cast<std::size_t>(starts_.back()) != members_.size())
            throw nb::value_error("starts must cover members, one entry per group");
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
        if (!colours_.empty()) check_colours();
    }

    // Groups of one colour are projected at the same time, so they must not touch the same numbers.
    void check_colours() const {
        if (colours_.front() != 0 || static_cast<std::size_t>(colours_.back()) != pattern_.size() ||
            !std::is_sorted(colours_.begin(), colours_.end()))
            throw nb::value_error("colours must ascend over all groups");
        std::vector<std::size_t> last(weights_.size(), colours_.size());
        for (std::size_t c = 0; c + 1 < colours_.size(); ++c)
            for (auto i = starts_[static_cast<std::size_t>(colours_[c])];
                 i < starts_[static_cast<std::size_t>(colours_[c + 1])]; ++i) {
                auto& seen = last[static_cast<std::size_t>(members_[static_cast<std::size_t>(i)])];
                if (seen == c) throw nb::value_error("two groups of one colour have a member in common");
                seen = c;
            }
    }

    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> members_, pattern_;
    std::vector<double> weights_;
    std::vector<std::int64_t> colours_;
    ColouredSweeps<Projector> projector_;
};

using Projector = OwningProjector<GroupProjector>;
using LossProjector = OwningProjector<BregmanProjector>;

NewArray<std::int32_t> colours(Vector<std::int64_t> starts, Vector<std::int32_t> members, std::size_t n_members) {
    if (starts.size() == 0 || starts(0) != 0 || static_cast<std::size_t>(starts(starts.size() - 1)) != members.size() ||
        !std::is_sorted(starts.data(), starts.data() + starts.size()))
        throw nb::value_error("starts must cover members, one entry per group");
    for (std::size_t i = 0; i < members.size(); ++i)
        if (members(i) < 0 || static_cast<std::size_t>(members(i)) >= n_members)
            throw nb::index_error("a member is out of range");
    std::vector<std::int32_t> found;
    {
        nb::gil_scoped_release release;
        found = colour_groups(view(starts), view(members), n_members);
    }
    return give(std::move(found));
}

Loss find_loss(std::string_view name) {
    if (name == "log") return Loss::log;
    if (name == "spherical") return Loss::spherical;
    throw nb::value_error("the loss must be log or spherical");
}

void construct(LossProjector* self, std::string_view loss, Vector<std::int64_t> starts, Vector<std::int32_t> members,
               Vector<std::int32_t> pattern, const std::vector<Matrix<double>>& patterns, Vector<double> weights,
               std::optional<Vector<std::int64_t>> colours, unsigned threads) {
    new (self) LossProjector(starts, members, pattern, patterns, weights, colours, threads, find_loss(loss));
}

void check(const MergedEvents& merged) {
    const std::size_t count = merged.weight.size();
    if (merged.mean.size() != count || merged.starts.size() != count + 1 || merged.table_starts.size() != count + 1)
        throw nb::value_error("arrays differ in length");
    for (const std::int32_t variable : merged.variables)
        if (variable < 0 || static_cast<std::size_t>(variable) >= merged.n_variables)
            throw nb::index_error("a variable is out of range");
    for (std::size_t e = 0; e < count; ++e) {
        const std::int64_t size = merged.starts[e + 1] - merged.starts[e], table = merged.table_starts[e];
        if (merged.starts[e] < 0 || size < 0 || size > 2 ||
            static_cast<std::size_t>(merged.starts[e + 1]) > merged.variables.size())
            throw nb::value_error("starts must ascend within variables, by at most 2");
        if (size != 2) continue;
        const std::int32_t* pair = merged.variables.data() + merged.starts[e];
        if (pair[0] == pair[1]) throw nb::value_error("an event has a variable twice");
        if (table < 0 || static_cast<std::size_t>(table) >= merged.tables.size())
            throw nb::index_error("a table is out of range");
    }
}

std::tuple<NewArray<double>, double, double, int> pairs(Vector<double> weight, Vector<double> mean,
                                                        Vector<std::int64_t> starts, Vector<std::int32_t> variables,
                                                        std::size_t n_variables, Vector<std::int64_t> table_starts,
                                                        Vector<std::uint64_t> tables, bool by_pair, bool auxiliary,
                                                        double tolerance, int max_iterations, unsigned threads,
                                                        const Stop* stop) {
    const MergedEvents merged{view(weight), view(mean),         view(starts), view(variables),
                              n_variables,  view(table_starts), view(tables)};
    check(merged);
    PairSolution solution;
    {
        nb::gil_scoped_release release;
        solution = solve_pairs(merged, {by_pair, auxiliary, tolerance, max_iterations, threads, stop});
    }
    return {give(std::move(solution.x)), solution.objective, solution.lower_bound, solution.iterations};
}

}  // namespace

void bind_groups(nb::module_& module) {
    nb::class_<Stop>(module, "Stop").def(nb::init<>()).def("set", &Stop::set);
    nb::class_<Projector>(module, "GroupProjector")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                      const std::vector<Matrix<double>>&, Vector<double>, std::optional<Vector<std::int64_t>>,
                      unsigned>(),
             nb::arg("starts"), nb::arg("members"), nb::arg("pattern"), nb::arg("patterns"), nb::arg("weights"),
             nb::arg("colours").none() = nb::none(), nb::arg("threads") = 1)
        .def("sweep", &Projector::sweep, nb::arg("x").noconvert())
        .def("dykstra", &Projector::dykstra, nb::arg("x").noconvert(), nb::arg("increments").noconvert())
        .def("violation", &Projector::violation, nb::arg("x"))
        .def("is_quick", &Projector::is_quick);
    nb::class_<LossProjector>(module, "BregmanProjector")
        .def("__init__", &construct, nb::arg("loss"), nb::arg("starts"), nb::arg("members"), nb::arg("pattern"),
             nb::arg("patterns"), nb::arg("weights"), nb::arg("colours").none() = nb::none(), nb::arg("threads") = 1)
        .def("sweep", &LossProjector::sweep, nb::arg("z").noconvert())
        .def("dykstra", &LossProjector::dykstra, nb::arg("z").noconvert(), nb::arg("increments").noconvert())
        .def("violation", &LossProjector::violation, nb::arg("z"));
    module.def("colour_groups", &colours, nb::arg("starts"), nb::arg("members"), nb::arg("n_members"));
    module.def("solve_pairs", &pairs, nb::arg("weight"), nb::arg("mean"), nb::arg("starts"), nb::arg("variables"),
               nb::arg("n_variables"), nb::arg("table_starts"), nb::arg("tables"), nb::arg("by_pair"),
               nb::arg("auxiliary"), nb::arg("tolerance"), nb::arg("max_iterations"), nb::arg("threads"),
               nb::arg("stop").none() = nb::none());
}

}  // namespace coherently::bindings
