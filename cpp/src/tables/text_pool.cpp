#include "coherently/tables/text_pool.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace coherently {
namespace {

constexpr std::size_t most_texts = std::size_t{1} << 30;

std::uint64_t word_at(const char* bytes, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    return word;
}

std::uint32_t hash_of(std::string_view text) {
    std::uint64_t hash = 0x9E3779B97F4A7C15 ^ text.size();
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left >= 8; at += 8, left -= 8) {
        hash = (hash ^ word_at(at, 8)) * 0xD6E8FEB86659FD93;
        hash ^= hash >> 32;
    }
    if (left > 0) hash = (hash ^ word_at(at, left)) * 0xD6E8FEB86659FD93;
    hash = (hash ^ hash >> 29) * 0x9E3779B97F4A7C15;
    return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

std::int32_t TextPool::code(std::string_view text) { return code(text, hash_of(text)); }

void TextPool::codes(std::span<const std::string_view> texts, std::vector<std::int32_t>& out) {
    constexpr std::size_t at_once = 32;
    std::uint32_t hashes[at_once];
    for (; !texts.empty(); texts = texts.subspan(std::min(at_once, texts.size()))) {
        const std::size_t count = std::min(at_once, texts.size()), mask = slots_.size() - 1;
        for (std::size_t i = 0; i < count; ++i) {
            hashes[i] = hash_of(texts[i]);
            __builtin_prefetch(&slots_[hashes[i] & mask]);
        }
        const auto likely = [&](std::size_t i) { return slots_[hashes[i] & mask].code; };
        for (std::size_t i = 0; i < count; ++i)
            if (likely(i) >= 0) __builtin_prefetch(&offsets_[static_cast<std::size_t>(likely(i))]);
        for (std::size_t i = 0; i < count; ++i)
            if (likely(i) >= 0) __builtin_prefetch(bytes_.data() + offsets_[static_cast<std::size_t>(likely(i))]);
        for (std::size_t i = 0; i < count; ++i) out.push_back(code(texts[i], hashes[i]));
    }
}

std::size_t TextPool::slot_of(std::string_view text, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot].code >= 0 &&
           !(slots_[slot].hash == hash && (*this)[static_cast<std::size_t>(slots_[slot].code)] == text))
        slot = (slot + 1) & mask;
    return slot;
}

std::int32_t TextPool::find(std::string_view text) const { return slots_[slot_of(text, hash_of(text))].code; }

std::int32_t TextPool::code(std::string_view text, std::uint32_t hash) {
    const std::size_t slot = slot_of(text, hash);
    if (slots_[slot].code >= 0) return slots_[slot].code;
    if (size() >= most_texts) throw std::length_error("more than 2^30 distinct texts");
    const auto fresh = static_cast<std::int32_t>(size());
    slots_[slot] = {hash, fresh};
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
    if (3 * size() > 2 * slots_.size()) grow();
    return fresh;
}

void TextPool::grow() {
    std::vector<Slot> larger(2 * slots_.size());
    const std::size_t mask = larger.size() - 1;
    for (const Slot& old : slots_) {
        if (old.code < 0) continue;
        std::size_t slot = old.hash & mask;
        while (larger[slot].code >= 0) slot = (slot + 1) & mask;
        larger[slot] = old;
    }
    slots_ = std::move(larger);
}

}  // namespace coherently
