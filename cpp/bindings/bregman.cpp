#include "coherently/groups/bregman.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "projector.hpp"

namespace coherently::bindings {
namespace {

using Projector = OwningProjector<BregmanProjector>;

Loss find_loss(std::string_view name) {
    if (name == "log") return Loss::log;
    if (name == "spherical") return Loss::spherical;
    throw nb::value_error("the loss must be log or spherical");
}

void construct(Projector* self, std::string_view loss, Vector<std::int64_t> starts, Vector<std::int32_t> members,
               Vector<std::int32_t> pattern, const std::vector<Matrix<double>>& patterns, Vector<double> weights) {
    new (self) Projector(starts, members, pattern, patterns, weights, find_loss(loss));
}

}  // namespace

void bind_bregman(nb::module_& module) {
    nb::class_<Projector>(module, "BregmanProjector")
        .def("__init__", &construct, nb::arg("loss"), nb::arg("starts"), nb::arg("members"), nb::arg("pattern"),
             nb::arg("patterns"), nb::arg("weights"))
        .def("sweep", &Projector::sweep, nb::arg("z").noconvert())
        .def("dykstra", &Projector::dykstra, nb::arg("z").noconvert(), nb::arg("increments").noconvert())
        .def("violation", &Projector::violation, nb::arg("z"));
}

}  // namespace coherently::bindings
