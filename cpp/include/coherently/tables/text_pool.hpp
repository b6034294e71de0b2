// Distinct texts, numbered in the order of their first appearance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace coherently {

class TextPool {
public:
    TextPool() : slots_(64) {}

    // The number of a text, which is added if it is new.
    std::int32_t code(std::string_view text);
    // The numbers of several texts. What each needs is fetched from memory while others are looked up.
    void codes(std::span<const std::string_view> texts, std::vector<std::int32_t>& out);
    // The number of a text that is there; -1 for any other.
    std::int32_t find(std::string_view text) const;
    std::size_t size() const { return offsets_.size() - 1; }
    std::string_view operator[](std::size_t i) const {
        const auto begin = static_cast<std::size_t>(offsets_[i]);
        return {reinterpret_cast<const char*>(bytes_.data()) + begin,
                static_cast<std::size_t>(offsets_[i + 1]) - begin};
    }
    // The layout of Arrow: text i has the bytes from offset i to offset i + 1.
    const std::vector<std::int64_t>& offsets() const { return offsets_; }
    const std::vector<std::uint8_t>& bytes() const { return bytes_; }

private:
    struct Slot {
        std::uint32_t hash = 0;
        std::int32_t code = -1;
    };
    std::int32_t code(std::string_view text, std::uint32_t hash);
    // The slot of a text, or the free one where it belongs.
    std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
    void grow();

    std::vector<std::uint8_t> bytes_;
    std::vector<std::int64_t> offsets_{0};
    std::vector<Slot> slots_;
};

}  // namespace coherently
