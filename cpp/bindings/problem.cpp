#include "arrays.hpp"
#include "coherently/functions/components.hpp"

namespace coherently::bindings {
namespace {

NewArray<std::int32_t> components(Vector<std::int64_t> starts, Vector<std::int32_t> members, std::size_t n_members) {
    if (starts.size() == 0) throw nb::value_error("starts needs at least one entry");
    for (const std::int32_t member : view(members))
        if (member < 0 || static_cast<std::size_t>(member) >= n_members)
            throw nb::index_error("a member is out of range");
    for (std::size_t i = 0; i + 1 < starts.size(); ++i)
        if (starts(i) < 0 || starts(i + 1) < starts(i) || static_cast<std::size_t>(starts(i + 1)) > members.size())
            throw nb::value_error("starts must ascend within members");
    return give(connected_rows(view(starts), view(members), n_members));
}

}  // namespace

void bind_problem(nb::module_& module) {
    module.def("connected_rows", &components, nb::arg("starts"), nb::arg("members"), nb::arg("n_members"));
}

}  // namespace coherently::bindings
