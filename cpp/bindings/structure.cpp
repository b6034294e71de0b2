#include <nanobind/stl/pair.h>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "coherently/structure/band.hpp"
#include "coherently/structure/order.hpp"

namespace coherently::bindings {
namespace {

std::vector<Implication> implications(std::size_t size, const Vector<std::int32_t>& from,
                                      const Vector<std::int32_t>& to) {
    if (from.size() != to.size()) throw nb::value_error("an implication has two ends");
    std::vector<Implication> found(from.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (from(i) < 0 || to(i) < 0 || static_cast<std::size_t>(std::max(from(i), to(i))) >= size)
            throw nb::index_error("an event is out of range");
        found[i] = {from(i), to(i)};
    }
    return found;
}

NewArray<std::int32_t> numbering(std::size_t size, Vector<std::int32_t> first, Vector<std::int32_t> second) {
    implications(size, first, second);  // checks the ends
    return give(band_order(size, view(first), view(second)));
}

void check_length(const Order& order, const Vector<double>& array) {
    if (array.size() != order.size()) throw nb::value_error("an array has the wrong length");
}

}  // namespace

void bind_structure(nb::module_& module) {
    nb::class_<Order>(module, "Order")
        .def(
            "__init__",
            [](Order* self, std::size_t size, Vector<std::int32_t> from, Vector<std::int32_t> to) {
                new (self) Order(size, implications(size, from, to));
            },
            nb::arg("size"), nb::arg("from_"), nb::arg("to"))
        .def_prop_ro("is_forest", &Order::is_forest)
        .def_prop_ro("n_nodes", &Order::n_nodes)
        .def("nodes", [](const Order& self) { return give(std::vector(self.nodes().begin(), self.nodes().end())); })
        .def("implications",
             [](const Order& self) {
                 std::vector<std::int32_t> ends;
                 for (const auto& [from, to] : self.implications()) ends.insert(ends.end(), {from, to});
                 const std::size_t count = ends.size() / 2;
                 return give(std::move(ends), {count, std::size_t{2}});
             })
        .def("stop", &Order::stop)
        .def(
            "least",
            [](const Order& self, Vector<double> cost) {
                check_length(self, cost);
                LeastWorld found;
                {
                    nb::gil_scoped_release release;
                    found = self.least(view(cost));
                }
                return std::pair(give(std::move(found.world)), found.bound);
            },
            nb::arg("cost"))
        .def(
            "isotonic",
            [](const Order& self, Vector<double> value, Vector<double> weight) {
                check_length(self, value);
                check_length(self, weight);
                std::vector<double> found;
                {
                    nb::gil_scoped_release release;
                    found = self.isotonic(view(value), view(weight));
                }
                return give(std::move(found));
            },
            nb::arg("value"), nb::arg("weight"))
        .def("inner_levels", [](const Order& self) { return give(self.inner_levels()); });
    module.def("band_order", &numbering, nb::arg("size"), nb::arg("first"), nb::arg("second"));
    nb::class_<BandFactor>(module, "BandFactor")
        .def(
            "__init__",
            [](BandFactor* self, std::size_t size, std::size_t width, Vector<double> band) {
                if (band.size() != size * (width + 1)) throw nb::value_error("an array has the wrong length");
                new (self) BandFactor(size, width, copy(band));
            },
            nb::arg("size"), nb::arg("width"), nb::arg("band"))
        .def_prop_ro("is_positive", &BandFactor::is_positive)
        .def(
            "solve",
            [](const BandFactor& self, Vector<double> right) {
                if (!self.is_positive()) throw nb::value_error("the matrix is not positive definite");
                if (right.size() != self.size()) throw nb::value_error("an array has the wrong length");
                std::vector<double> found = copy(right);
                self.solve(found);
                return give(std::move(found));
            },
            nb::arg("right"));
}

}  // namespace coherently::bindings
