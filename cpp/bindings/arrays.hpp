// NumPy arrays in and out of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <vector>

namespace coherently::bindings {

namespace nb = nanobind;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using NewArray = nb::ndarray<nb::numpy, T>;

template <typename T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.size()};
}

template <typename T>
std::vector<T> copy(const Vector<T>& array) {
    return {array.data(), array.data() + array.size()};
}

// Hands the vector's memory to NumPy.
template <typename T>
NewArray<T> give(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NewArray<T>(data, shape, owner);
}

template <typename T>
NewArray<T> give(std::vector<T>&& values) {
    const std::size_t size = values.size();
    return give(std::move(values), {size});
}

}  // namespace coherently::bindings
