// What the bindings of both projectors share.
#pragma once

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "coherently/groups/projections.hpp"

namespace coherently::bindings {

using Writable = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A projector with copies of its groups, so that no view outlives its array.
template <typename Projector>
class OwningProjector {
public:
    template <typename... Options>
    OwningProjector(Vector<std::int64_t> starts, Vector<std::int32_t> members, Vector<std::int32_t> pattern,
                    const std::vector<Matrix<double>>& patterns, Vector<double> weights, Options... options)
        : starts_(copy(starts)),
          members_(copy(members)),
          pattern_(copy(pattern)),
          weights_(copy(weights)),
          projector_(options..., GroupView{starts_, members_, pattern_}, to_patterns(patterns), weights_) {
        check(patterns);
    }

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

    bool is_quick() const { return projector_.is_quick(); }

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
    Projector projector_;
};

}  // namespace coherently::bindings
