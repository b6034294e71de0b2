#include <utility>
#include <vector>

#include "arrays.hpp"
#include "coherently/worlds/branch/sign_forms.hpp"

namespace coherently::bindings {
namespace {

std::span<const std::uint8_t> view_bytes(const nb::bytes& bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.c_str()), bytes.size()};
}

nb::object write_signs(nb::bytes tree, Vector<std::int64_t> places, Matrix<std::int8_t> fixed, Matrix<std::int64_t> a,
                       Vector<std::int64_t> y) {
    const std::size_t n = fixed.shape(1);
    std::size_t free = 0;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < fixed.shape(0); ++i)
        for (std::size_t v = 0; v < n; ++v) free += fixed(i, v) == 0;
    if (places.size() != fixed.shape(0) || a.shape(0) != n || a.shape(1) != n || y.size() != free)
        throw nb::value_error("arrays differ in length");
    for (const std::int64_t place : view(places)) {
        if (place < before || static_cast<std::size_t>(place) > tree.size())
            throw nb::index_error("a form is not within the tree");
        before = place;
    }
    std::optional<std::vector<std::uint8_t>> found;
    {
        nb::gil_scoped_release release;
        found = with_forms(view_bytes(tree), view(places), {fixed.data(), fixed.size()}, {a.data(), a.size()}, view(y));
    }
    if (!found) return nb::none();
    return nb::bytes(reinterpret_cast<const char*>(found->data()), found->size());
}

nb::object check(std::int64_t constant, Vector<std::int64_t> h, Matrix<std::int64_t> a, Vector<std::int8_t> signs,
                 nb::bytes tree) {
    if (a.shape(0) != h.size() || a.shape(1) != h.size() || signs.size() != h.size())
        throw nb::value_error("arrays differ in length");
    std::optional<SignBound> found;
    {
        nb::gil_scoped_release release;
        found = check_signs({constant, view(h), {a.data(), a.size()}}, view(signs), view_bytes(tree));
    }
    if (!found) return nb::none();
    return nb::make_tuple(found->least, found->work);
}

}  // namespace

void bind_signs(nb::module_& module) {
    module.def("write_signs", &write_signs, nb::arg("tree"), nb::arg("places"), nb::arg("fixed"), nb::arg("a"),
               nb::arg("y"));
    module.def("check_signs", &check, nb::arg("constant"), nb::arg("h"), nb::arg("a"), nb::arg("signs"),
               nb::arg("tree"));
}

}  // namespace coherently::bindings
