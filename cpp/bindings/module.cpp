#include <nanobind/nanobind.h>

namespace coherently::bindings {
void bind_events(nanobind::module_& module);
void bind_functions(nanobind::module_& module);
void bind_components(nanobind::module_& module);
void bind_groups(nanobind::module_& module);
void bind_space(nanobind::module_& module);
void bind_nearest(nanobind::module_& module);
void bind_rows(nanobind::module_& module);
void bind_oracle(nanobind::module_& module);
void bind_clusters(nanobind::module_& module);
void bind_annealing(nanobind::module_& module);
void bind_answers(nanobind::module_& module);
void bind_tables(nanobind::module_& module);
void bind_structure(nanobind::module_& module);
void bind_signs(nanobind::module_& module);
}  // namespace coherently::bindings

NB_MODULE(_core, module) {
    nanobind::set_leak_warnings(false);  // a traceback that a user keeps is not a leak
    module.doc() = "The compiled core of Coherently.";
    coherently::bindings::bind_events(module);
    coherently::bindings::bind_functions(module);
    coherently::bindings::bind_components(module);
    coherently::bindings::bind_groups(module);
    coherently::bindings::bind_space(module);
    coherently::bindings::bind_nearest(module);
    coherently::bindings::bind_rows(module);
    coherently::bindings::bind_oracle(module);
    coherently::bindings::bind_clusters(module);
    coherently::bindings::bind_annealing(module);
    coherently::bindings::bind_answers(module);
    coherently::bindings::bind_tables(module);
    coherently::bindings::bind_structure(module);
    coherently::bindings::bind_signs(module);
}
