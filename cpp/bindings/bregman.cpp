#include "coherently/bregman.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "arrays.hpp"

namespace coherently::bindings {
namespace {

using Writable = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Loss find_loss(std::string_view name) {
    if (name == "log") return Loss::log;
    if (name == "spherical") return Loss::spherical;
    throw nb::value_error("the loss must be log or spherical");
}

// Owns copies of the groups, so that no view outlives its array.
class DualProjector {
public:
    DualProjector(std::string_view loss, Vector<std::int64_t> starts, Vector<std::int32_t> members,
                  Vector<std::int32_t> pattern, std::vector<Matrix<double>> patterns, Vector<double> weights)
        : starts_(copy(starts)), members_(copy(members)), pattern_(copy(pattern)), weights_(copy(weights)),
          projector_(find_loss(loss), {starts_, members_, pattern_}, to_patterns(patterns), weights_) {
        check(patterns);
    }

    double sweep(Writable z) {
        check_length(z.size(), weights_.size());
        nb::gil_scoped_release release;
        return projector_.sweep({z.data(), z.size()});
    }

    void dykstra(Writable z, Writable increments) {
        check_length(z.size(), weights_.size());
        check_length(increments.size(), members_.size());
        nb::gil_scoped_release release;
        projector_.sweep({z.data(), z.size()}, {increments.data(), increments.size()});
    }

    double violation(Vector<double> z) {
        check_length(z.size(), weights_.size());
        nb::gil_scoped_release release;
        return projector_.violation(view(z));
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
    BregmanProjector projector_;
};

}  // namespace

void bind_bregman(nb::module_& module) {
    nb::class_<DualProjector>(module, "BregmanProjector")
        .def(nb::init<std::string_view, Vector<std::int64_t>, Vector<std::int32_t>, Vector<std::int32_t>,
                      std::vector<Matrix<double>>, Vector<double>>(),
             nb::arg("loss"), nb::arg("starts"), nb::arg("members"), nb::arg("pattern"), nb::arg("patterns"),
             nb::arg("weights"))
        .def("sweep", &DualProjector::sweep, nb::arg("z").noconvert())
        .def("dykstra", &DualProjector::dykstra, nb::arg("z").noconvert(), nb::arg("increments").noconvert())
        .def("violation", &DualProjector::violation, nb::arg("z"));
}

}  // namespace coherently::bindings
