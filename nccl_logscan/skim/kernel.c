/* The skim of a block of a log, without an object a line: cuts lines, tells their shapes, counts what is known, and
 * hands out every line that is to be read. skim/plain.py says the same in Python and is what this is tested against.
 *
 * A run is a maximal sequence of hexadecimal digits (0-9, a-f, A-F) that holds a decimal one; a shape is a line without
 * its runs. The first line of each shape is a question, answered by whoever called: `struct answer` says what becomes
 * of the lines of the shape. A class is one group's lines of which the keyed runs are equal.
 *
 * Plain C11; no memory is kept but by `struct skim`; every function that allocates returns a negative number where
 * there is no more memory.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE 1
#include <immintrin.h>
#else
#define WIDE 0
#endif

enum {
    LONGEST = 8192,                   /* bytes of a line that has a shape */
    WORDS = LONGEST / 64,
    KEY = 1024,                       /* bytes of a class's key */
    AROUND = 3,                       /* lines before and after one that go with it */
    MOST_SHAPES = 1 << 16,
    MOST_CLASSES = 1 << 17,
    SLOTS = 1 << 17,                  /* of shapes */
    CLASS_SLOTS = 1 << 18
};

enum { NO_MEMORY = -1, DONE = 0, ASKS = 1 };
enum { KEEP = 0, FOLD = 1 };
enum { READ = 1, AROUND_ONE = 2, FIRST = 4, LAST = 8, CENTRE = 16 };
enum { WITH_AROUND = 1, BOUNDARY = 2, SPEAKS = 4, ONCE = 8, AWAITS = 16, AWAITED = 32 };

struct answer {
    uint32_t action;
    uint32_t group;
    uint64_t keyed;                   /* bit n: run n is part of the key; bit 63: all runs from the 64th on */
    uint32_t firsts, lasts;           /* lines of a class that are handed out */
    uint32_t window;                  /* lines after one of these that are to be read as well */
    int32_t watched;                  /* number of a run: a line in which it is 0 or 1 is handed out; -1: none */
    uint32_t flags;
    uint32_t unused;
};

struct record {                       /* a line handed out */
    int64_t line;                     /* from 0 at the segment's first own line; those around it lie outside of it */
    int64_t offset;                   /* of its first byte in the input */
    uint64_t text;                    /* where in `bytes` it stands */
    uint32_t length;
    uint32_t flags;
    uint32_t segment;
    uint32_t class_number;            /* from 1; 0: of none */
};

struct class_told {                   /* a class, as it is handed out */
    uint64_t count;
    uint64_t key;                     /* where in `bytes` */
    uint32_t key_length;
    uint32_t group;
};

struct question {                     /* the line that waits for an answer */
    const uint8_t *text;
    uint64_t length;
    const uint8_t *shape;
    uint64_t shape_length;
};

struct place { int64_t line; uint64_t start; uint32_t length; bool is_out; };
struct kept { int64_t line, offset; uint32_t segment, length, room; uint8_t *text; };

struct class_ {
    uint64_t hash, count;
    uint8_t *key;
    struct place *here;               /* the last lines of this segment, a ring */
    struct kept *kept;                /* the last lines of the segments before, a ring */
    uint64_t count_here, kept_count;
    uint32_t key_length, group, firsts, lasts, flags;
    int64_t reported;                 /* the line last handed out at a boundary */
};

struct shape { uint64_t hash; uint32_t answer; };
struct array { uint8_t *data; size_t used, room; };

struct skim {
    uint64_t seed;
    struct shape *shapes;
    uint32_t *class_slots;
    struct answer *answers;
    size_t shape_count, answer_room;
    struct class_ *classes;
    size_t class_count, class_room;
    struct array bytes, records, told, touched;
    /* the segment */
    const uint8_t *buffer;
    uint64_t start, own_end, end, at;
    int64_t base, line, around_until, reading_until;
    uint32_t segment;
    bool boundary_seen, asks, awaits, is_out;  /* is_out: this line was handed out */
    uint64_t line_end;
    struct place before[AROUND];
    uint32_t before_count;
    uint64_t kill[WORDS + 1];
    uint64_t hash;
    size_t word_count, shape_length;
    bool odd;
    struct question question;
    uint8_t shape[LONGEST + 64];
    uint8_t key[KEY + 64];
};

/* --- memory ------------------------------------------------------------------------------------------- */

static void *grown(struct array *array, size_t more) {
    if (array->used + more > array->room) {
        size_t room = array->room ? array->room * 2 : 4096;
        while (room < array->used + more) room *= 2;
        uint8_t *data = realloc(array->data, room);
        if (!data) return NULL;
        array->data = data;
        array->room = room;
    }
    void *place = array->data + array->used;
    array->used += more;
    return place;
}

static int64_t put_bytes(struct skim *skim, const uint8_t *text, size_t length) {
    uint8_t *place = grown(&skim->bytes, length);
    if (!place && length) return NO_MEMORY;
    if (length) memcpy(place, text, length);
    return (int64_t)(skim->bytes.used - length);
}

/* --- the hash of a shape or key ------------------------------------------------------------------------ */

static inline uint64_t mixed(uint64_t one, uint64_t other) {
    __uint128_t product = (__uint128_t)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t word_at(const uint8_t *text) {
    uint64_t word;
    memcpy(&word, text, 8);
    return word;
}

static uint64_t hashed(uint64_t seed, const uint8_t *text, size_t length) {
    const uint64_t first = 0x9E3779B97F4A7C15u, second = 0xD1B54A32D192ED03u;
    uint64_t hash = seed ^ mixed(length ^ first, second), other = hash ^ second;
    for (; length > 32; text += 32, length -= 32) {
        hash = mixed(word_at(text) ^ first ^ hash, word_at(text + 8) ^ second);
        other = mixed(word_at(text + 16) ^ second ^ other, word_at(text + 24) ^ first);
    }
    uint8_t rest[32] = {0};
    memcpy(rest, text, length);
    hash = mixed(word_at(rest) ^ first ^ hash, word_at(rest + 8) ^ second);
    other = mixed(word_at(rest + 16) ^ second ^ other, word_at(rest + 24) ^ first);
    return mixed(hash ^ first, other ^ second);
}

/* --- runs ----------------------------------------------------------------------------------------------- */

static uint64_t reversed(uint64_t word) {
    word = ((word >> 1) & 0x5555555555555555u) | ((word & 0x5555555555555555u) << 1);
    word = ((word >> 2) & 0x3333333333333333u) | ((word & 0x3333333333333333u) << 2);
    word = ((word >> 4) & 0x0F0F0F0F0F0F0F0Fu) | ((word & 0x0F0F0F0F0F0F0F0Fu) << 4);
    return __builtin_bswap64(word);
}

/* The bits of `hex` that follow a seed without a gap, the seeds among them. */
static inline uint64_t flooded(uint64_t hex, uint64_t seeds) { return (((hex + seeds) ^ hex) & hex) | seeds; }

/* From the digits and the hexadecimal letters of each word to the runs: `digits` becomes them. */
static void join_letters(uint64_t *digits, const uint64_t *letters, size_t words) {
    uint64_t carry = 0, up[WORDS + 1];
    for (size_t word = 0; word < words; word++) {
        uint64_t hex = digits[word] | letters[word];
        up[word] = flooded(hex, digits[word] | (hex & carry));
        carry = up[word] >> 63;
    }
    carry = 0;
    for (size_t word = words; word-- > 0;) {
        uint64_t hex = reversed(digits[word] | letters[word]);
        uint64_t down = flooded(hex, reversed(digits[word]) | (hex & carry));
        carry = down >> 63;
        digits[word] = up[word] | reversed(down);
    }
}

#if WIDE
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))
static void look_wide(struct skim *skim, const uint8_t *text, const uint8_t *limit) {
    /* Finds the line's end, its runs and its shape in one pass. */
    uint64_t letters[WORDS + 1];
    uint64_t any = 0, odd = 0, left = (uint64_t)(limit - text);
    size_t words = 0, length = 0;
    const __m512i zero = _mm512_set1_epi8('0'), a = _mm512_set1_epi8('a'), ten = _mm512_set1_epi8(10);
    const __m512i six = _mm512_set1_epi8(6), low = _mm512_set1_epi8(0x20);
    for (;;) {
        uint64_t rest = left - length;
        if (rest == 0) break;
        if (words == WORDS) { odd = 1; break; }
        __mmask64 valid = rest >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << rest) - 1;
        __m512i block = _mm512_maskz_loadu_epi8(valid, text + length);
        uint64_t feed = _mm512_mask_cmpeq_epi8_mask(valid, block, _mm512_set1_epi8('\n'));
        if (feed) valid &= feed ^ (feed - 1), valid &= ~feed;
        uint64_t digit = _mm512_mask_cmplt_epu8_mask(valid, _mm512_sub_epi8(block, zero), ten);
        uint64_t letter = _mm512_mask_cmplt_epu8_mask(valid, _mm512_sub_epi8(_mm512_or_si512(block, low), a), six);
        uint64_t bad = _mm512_mask_cmpeq_epi8_mask(valid, block, _mm512_setzero_si512());
        uint64_t back = _mm512_mask_cmpeq_epi8_mask(valid, block, _mm512_set1_epi8('\r'));
        skim->kill[words] = digit;
        letters[words] = letter;
        any |= digit;
        words++;
        uint64_t taken = (uint64_t)__builtin_popcountll(valid);
        if (back) {
            /* A carriage return at a line's very end is a part of its shape; elsewhere it is a line's odd one. */
            uint64_t last = valid & ~(valid >> 1);
            bad |= back & ~last;
            if ((back & last) && !feed && length + taken < left && text[length + taken] != '\n') bad |= back;
        }
        odd |= bad;
        length += taken;
        if (feed) break;
    }
    if (odd) {
        const uint8_t *feed = length < left ? memchr(text + length, '\n', left - length) : NULL;
        length = feed ? (size_t)(feed - text) : left;
    }
    skim->odd = odd != 0;
    skim->line_end = skim->at + length;
    skim->word_count = words;
    if (odd) return;
    if (any) join_letters(skim->kill, letters, words);
    size_t used = 0;
    for (size_t word = 0; word < words; word++) {
        uint64_t rest = length - word * 64;
        uint64_t valid = rest >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << rest) - 1;
        __m512i block = _mm512_maskz_loadu_epi8(valid, text + word * 64);
        uint64_t stays = valid & ~skim->kill[word];
        _mm512_storeu_si512(skim->shape + used, _mm512_maskz_compress_epi8(stays, block));
        used += (size_t)__builtin_popcountll(stays);
    }
    skim->shape_length = used;
}
#endif

static void look_plain(struct skim *skim, const uint8_t *text, const uint8_t *limit) {
    const uint8_t *feed = memchr(text, '\n', (size_t)(limit - text));
    size_t length = feed ? (size_t)(feed - text) : (size_t)(limit - text);
    skim->line_end = skim->at + length;
    skim->odd = length > LONGEST || memchr(text, 0, length) != NULL ||
                (length > 1 && memchr(text, '\r', length - 1) != NULL);
    if (skim->odd) return;
    uint64_t letters[WORDS + 1] = {0};
    size_t words = (length + 63) / 64;
    for (size_t word = 0; word < words; word++) {
        uint64_t digit = 0, letter = 0;
        size_t most = length - word * 64 < 64 ? length - word * 64 : 64;
        const uint8_t *at = text + word * 64;
        for (size_t bit = 0; bit < most; bit++) {
            digit |= (uint64_t)((uint8_t)(at[bit] - '0') < 10) << bit;
            letter |= (uint64_t)((uint8_t)((at[bit] | 0x20) - 'a') < 6) << bit;
        }
        skim->kill[word] = digit;
        letters[word] = letter;
    }
    skim->word_count = words;
    join_letters(skim->kill, letters, words);
    size_t used = 0, from = 0;
    for (size_t word = 0; word < words; word++) {
        uint64_t kill = skim->kill[word];
        size_t most = length - word * 64 < 64 ? length - word * 64 : 64, bit = 0;
        while (bit < most) {
            uint64_t ahead = kill >> bit;
            if (ahead & 1) {
                bit += ~ahead ? (size_t)__builtin_ctzll(~ahead) : 64;
                continue;
            }
            size_t span = ahead ? (size_t)__builtin_ctzll(ahead) : 64;
            if (span > most - bit) span = most - bit;
            from = word * 64 + bit;
            memcpy(skim->shape + used, text + from, span);
            used += span;
            bit += span;
        }
    }
    skim->shape_length = used;
}

static void (*look)(struct skim *, const uint8_t *, const uint8_t *) = look_plain;

/* The first bit at or after `from` that is set (or, with `flip`, not set) in the line's runs; the length if none. */
static size_t next_bit(const struct skim *skim, size_t from, size_t length, bool flip) {
    for (size_t word = from / 64; word < skim->word_count; word++) {
        uint64_t bits = flip ? ~skim->kill[word] : skim->kill[word];
        if (word == from / 64) bits &= ~(uint64_t)0 << (from % 64);
        if (bits) {
            size_t found = word * 64 + (size_t)__builtin_ctzll(bits);
            return found < length ? found : length;
        }
    }
    return length;
}

/* --- lines handed out ----------------------------------------------------------------------------------- */

static int put_record(struct skim *skim, struct place place, uint32_t flags, uint32_t class_number) {
    int64_t text = put_bytes(skim, skim->buffer + place.start, place.length);
    struct record *record = text < 0 ? NULL : grown(&skim->records, sizeof *record);
    if (!record) return NO_MEMORY;
    *record = (struct record){place.line, skim->base + (int64_t)place.start, (uint64_t)text, (uint32_t)place.length,
                              flags, skim->segment, class_number};
    return DONE;
}

/* A line that goes out, with the lines before it where `around`; those after it follow as they come. */
static int hand_out(struct skim *skim, struct place place, uint32_t flags, uint32_t class_number, bool around) {
    if (around) {
        for (uint32_t n = 0; n < skim->before_count; n++) {
            uint32_t at = (uint32_t)((uint64_t)(place.line + AROUND - (int64_t)skim->before_count + n) % AROUND);
            if (!skim->before[at].is_out && put_record(skim, skim->before[at], AROUND_ONE, 0)) return NO_MEMORY;
            skim->before[at].is_out = true;
        }
        if (place.line + AROUND > skim->around_until) skim->around_until = place.line + AROUND;
    }
    skim->is_out = true;
    return put_record(skim, place, around ? flags | CENTRE : flags, class_number);
}

/* --- classes -------------------------------------------------------------------------------------------- */

static struct class_ *class_of(struct skim *skim, const struct answer *answer, size_t key_length) {
    uint64_t hash = hashed(skim->seed ^ answer->group, skim->key, key_length);
    size_t slot = hash & (CLASS_SLOTS - 1);
    for (; skim->class_slots[slot]; slot = (slot + 1) & (CLASS_SLOTS - 1)) {
        struct class_ *known = &skim->classes[skim->class_slots[slot] - 1];
        if (known->hash == hash && known->group == answer->group && known->key_length == key_length &&
            memcmp(known->key, skim->key, key_length) == 0)
            return known;
    }
    if (skim->class_count == MOST_CLASSES) return NULL;
    if (skim->class_count == skim->class_room) {
        size_t room = skim->class_room ? skim->class_room * 2 : 256;
        struct class_ *classes = realloc(skim->classes, room * sizeof *classes);
        if (!classes) return NULL;
        skim->classes = classes;
        skim->class_room = room;
    }
    struct class_ new = {.hash = hash, .group = answer->group, .key_length = (uint32_t)key_length,
                         .firsts = answer->firsts, .lasts = answer->lasts, .flags = answer->flags, .reported = -1};
    new.key = malloc(key_length + 1);
    new.here = calloc(new.lasts + 1, sizeof *new.here);
    new.kept = calloc(new.lasts + 1, sizeof *new.kept);
    if (!new.key || !new.here || !new.kept) {
        free(new.key);
        free(new.here);
        free(new.kept);
        return NULL;
    }
    memcpy(new.key, skim->key, key_length);
    skim->classes[skim->class_count++] = new;
    skim->class_slots[slot] = (uint32_t)skim->class_count;
    return &skim->classes[skim->class_count - 1];
}

/* The keyed runs of the line, each ended by a byte that none holds; SIZE_MAX where they are too long. */
static size_t put_key(struct skim *skim, const uint8_t *text, size_t length, uint64_t keyed) {
    size_t used = 0, at = 0;
    for (unsigned number = 0; keyed >> (number < 63 ? number : 63); number++) {
        size_t from = next_bit(skim, at, length, false);
        if (from == length) break;
        at = next_bit(skim, from, length, true);
        if (keyed >> (number < 63 ? number : 63) & 1) {
            if (used + (at - from) + 1 > KEY) return SIZE_MAX;
            memcpy(skim->key + used, text + from, at - from);
            used += at - from;
            skim->key[used++] = ' ';
        }
    }
    return used;
}

static bool is_at_most_one(const struct skim *skim, const uint8_t *text, size_t length, int32_t watched) {
    size_t from = 0, at = 0;
    for (int32_t number = 0; number <= watched; number++) {
        from = next_bit(skim, at, length, false);
        if (from == length) return false;
        at = next_bit(skim, from, length, true);
    }
    for (; from + 1 < at; from++)
        if (text[from] != '0') return false;
    return text[from] == '0' || text[from] == '1';
}

static int keep_lasts(struct skim *skim) {
    const uint32_t *touched = (const uint32_t *)skim->touched.data;
    for (size_t n = 0; n < skim->touched.used / sizeof *touched; n++) {
        struct class_ *class_ = &skim->classes[touched[n]];
        uint64_t most = class_->count_here < class_->lasts ? class_->count_here : class_->lasts;
        for (uint64_t back = most; back > 0; back--) {
            struct place *place = &class_->here[(class_->count_here - back) % class_->lasts];
            struct kept *kept = &class_->kept[class_->kept_count % class_->lasts];
            if (kept->room < place->length) {
                uint8_t *text = realloc(kept->text, place->length);
                if (!text) return NO_MEMORY;
                kept->text = text;
                kept->room = (uint32_t)place->length;
            }
            if (place->length) memcpy(kept->text, skim->buffer + place->start, place->length);
            kept->line = place->line;
            kept->offset = skim->base + (int64_t)place->start;
            kept->segment = skim->segment;
            kept->length = (uint32_t)place->length;
            class_->kept_count++;
        }
        class_->count_here = 0;
        class_->reported = -1;
    }
    skim->touched.used = 0;
    return DONE;
}

/* At the first boundary of a segment, the last words of everybody who spoke in it. */
static int report_last_words(struct skim *skim) {
    const uint32_t *touched = (const uint32_t *)skim->touched.data;
    for (size_t n = 0; n < skim->touched.used / sizeof *touched; n++) {
        struct class_ *class_ = &skim->classes[touched[n]];
        if (!(class_->flags & SPEAKS) || !class_->lasts) continue;
        struct place *place = &class_->here[(class_->count_here - 1) % class_->lasts];
        if (put_record(skim, *place, READ, touched[n] + 1)) return NO_MEMORY;
    }
    return DONE;
}

/* Returns the class where the line was counted in one; hands it out where it is one of the first of it. */
static int count_line(struct skim *skim, struct place place, const struct answer *answer) {
    const uint8_t *text = skim->buffer + place.start;
    size_t key_length = put_key(skim, text, place.length, answer->keyed);
    bool around = answer->flags & WITH_AROUND;
    if (key_length == SIZE_MAX) return hand_out(skim, place, READ, 0, around);
    struct class_ *class_ = class_of(skim, answer, key_length);
    if (!class_) {
        if (skim->class_count < MOST_CLASSES) return NO_MEMORY;
        return hand_out(skim, place, READ, 0, around);
    }
    uint32_t number = (uint32_t)(class_ - skim->classes);
    if (!class_->count_here) {
        uint32_t *touched = grown(&skim->touched, sizeof *touched);
        if (!touched) return NO_MEMORY;
        *touched = number;
    }
    if (class_->lasts) class_->here[class_->count_here % class_->lasts] = place;
    class_->count_here++;
    bool first = class_->count < class_->firsts;
    class_->count++;
    if (first && hand_out(skim, place, READ | FIRST, number + 1, around)) return NO_MEMORY;
    bool awaited = skim->awaits && (answer->flags & AWAITED);
    if (awaited) skim->awaits = false;
    if (answer->flags & AWAITS) skim->awaits = true;
    if (awaited || place.line <= skim->reading_until ||
        (answer->watched >= 0 && is_at_most_one(skim, text, place.length, answer->watched)))
        return hand_out(skim, place, READ, number + 1, false);
    if (first) return DONE;
    if (place.line <= skim->around_until) {
        skim->is_out = true;
        return put_record(skim, place, AROUND_ONE, 0);
    }
    return DONE;
}

static int follow(struct skim *skim, struct place place, const struct answer *answer) {
    if (answer->action == FOLD) return count_line(skim, place, answer);
    if ((answer->flags & BOUNDARY) && !skim->boundary_seen) {
        skim->boundary_seen = true;
        if (report_last_words(skim)) return NO_MEMORY;
    }
    if (answer->flags & AWAITED) skim->awaits = false;
    if (answer->flags & AWAITS) skim->awaits = true;
    if (answer->window && place.line + answer->window > skim->reading_until)
        skim->reading_until = place.line + answer->window;
    return hand_out(skim, place, READ, 0, answer->flags & WITH_AROUND);
}

/* --- shapes --------------------------------------------------------------------------------------------- */

static const struct answer *known_answer(const struct skim *skim) {
    for (size_t slot = skim->hash & (SLOTS - 1); skim->shapes[slot].answer; slot = (slot + 1) & (SLOTS - 1))
        if (skim->shapes[slot].hash == skim->hash) return &skim->answers[skim->shapes[slot].answer - 1];
    return NULL;
}

static int remember(struct skim *skim, const struct answer *answer) {
    if (skim->shape_count == MOST_SHAPES) return DONE;
    if (skim->shape_count == skim->answer_room) {
        size_t room = skim->answer_room ? skim->answer_room * 2 : 256;
        struct answer *answers = realloc(skim->answers, room * sizeof *answers);
        if (!answers) return NO_MEMORY;
        skim->answers = answers;
        skim->answer_room = room;
    }
    skim->answers[skim->shape_count++] = *answer;
    size_t slot = skim->hash & (SLOTS - 1);
    while (skim->shapes[slot].answer) slot = (slot + 1) & (SLOTS - 1);
    skim->shapes[slot] = (struct shape){skim->hash, (uint32_t)skim->shape_count};
    return DONE;
}

/* --- the segment ---------------------------------------------------------------------------------------- */

static struct place here(const struct skim *skim) {
    return (struct place){skim->line, skim->at, (uint32_t)(skim->line_end - skim->at), skim->is_out};
}

static void pass(struct skim *skim) {
    skim->before[(uint64_t)(skim->line + AROUND) % AROUND] = here(skim);
    if (skim->before_count < AROUND) skim->before_count++;
    skim->is_out = false;
    skim->line++;
    skim->at = skim->line_end < skim->end ? skim->line_end + 1 : skim->end;
}

/* Reads on until a line asks (ASKS) or the segment's own lines are done (DONE). */
static int go_on(struct skim *skim) {
    while (skim->at < skim->own_end) {
        look(skim, skim->buffer + skim->at, skim->buffer + skim->end);
        int result;
        if (skim->odd) {
            result = hand_out(skim, here(skim), READ, 0, false);
        } else {
            skim->hash = hashed(skim->seed, skim->shape, skim->shape_length);
            const struct answer *answer = known_answer(skim);
            if (!answer) {
                skim->question = (struct question){skim->buffer + skim->at, skim->line_end - skim->at, skim->shape,
                                                   skim->shape_length};
                skim->asks = true;
                return ASKS;
            }
            result = follow(skim, here(skim), answer);
        }
        if (result) return result;
        pass(skim);
    }
    return DONE;
}

/* Hands out what lies behind the segment and belongs to its last lines. */
static int run_out(struct skim *skim) {
    while (skim->at < skim->end && (skim->line <= skim->around_until || skim->line <= skim->reading_until)) {
        const uint8_t *text = skim->buffer + skim->at;
        const uint8_t *feed = memchr(text, '\n', skim->end - skim->at);
        if (!feed) break;
        skim->line_end = skim->at + (uint64_t)(feed - text);
        uint32_t flags = skim->line <= skim->reading_until ? READ : AROUND_ONE;
        if (put_record(skim, here(skim), flags, 0)) return NO_MEMORY;
        pass(skim);
    }
    return DONE;
}

static void look_back(struct skim *skim, uint64_t lead) {
    /* The lines before the segment, as far as they are whole. */
    uint64_t end = skim->start;
    for (int64_t line = -1; line >= -AROUND && end > lead; line--) {
        uint64_t start = end - 1;
        while (start > lead && skim->buffer[start - 1] != '\n') start--;
        if (start == lead && skim->base + (int64_t)lead > 0) break;
        skim->before[(uint64_t)(line + AROUND) % AROUND] = (struct place){line, start, (uint32_t)(end - 1 - start), false};
        skim->before_count++;
        end = start;
    }
}

/* --- what Python calls ---------------------------------------------------------------------------------- */

struct skim *skim_new(uint64_t seed, int32_t may_be_wide) {
    struct skim *skim = calloc(1, sizeof *skim);
    if (!skim) return NULL;
    skim->seed = seed;
    skim->shapes = calloc(SLOTS, sizeof *skim->shapes);
    skim->class_slots = calloc(CLASS_SLOTS, sizeof *skim->class_slots);
    look = look_plain;
#if WIDE
    __builtin_cpu_init();
    if (may_be_wide && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("bmi2"))
        look = look_wide;
#endif
    (void)may_be_wide;
    if (skim->shapes && skim->class_slots) return skim;
    free(skim->shapes);
    free(skim->class_slots);
    free(skim);
    return NULL;
}

/* Lets go of all classes and of what was handed out; the shapes' answers stay. */
void skim_clear(struct skim *skim) {
    for (size_t n = 0; n < skim->class_count; n++) {
        struct class_ *class_ = &skim->classes[n];
        for (uint32_t last = 0; last < class_->lasts; last++) free(class_->kept[last].text);
        free(class_->key);
        free(class_->here);
        free(class_->kept);
    }
    skim->class_count = 0;
    memset(skim->class_slots, 0, CLASS_SLOTS * sizeof *skim->class_slots);
    skim->bytes.used = skim->records.used = skim->told.used = skim->touched.used = 0;
}

void skim_free(struct skim *skim) {
    skim_clear(skim);
    free(skim->bytes.data);
    free(skim->records.data);
    free(skim->told.data);
    free(skim->touched.data);
    free(skim->classes);
    free(skim->answers);
    free(skim->shapes);
    free(skim->class_slots);
    free(skim);
}

/* Begins a segment: its own lines start in [start, own_end) of a buffer of `end` bytes, of which the first stands at
 * `base` in the input; what lies before and behind are lines of other segments. */
int32_t skim_begin(struct skim *skim, const uint8_t *buffer, uint64_t start, uint64_t own_end, uint64_t end, int64_t base,
                   uint32_t segment) {
    skim->buffer = buffer;
    skim->start = skim->at = start;
    skim->own_end = own_end;
    skim->end = end;
    skim->base = base;
    skim->segment = segment;
    skim->line = 0;
    skim->around_until = skim->reading_until = -1;
    skim->boundary_seen = skim->asks = skim->is_out = false;
    skim->awaits = true;               /* for a line of the segment before */
    skim->before_count = 0;
    look_back(skim, 0);
    return go_on(skim);
}

/* Answers the question that `skim_begin` or this asked, and goes on. */
int32_t skim_answer(struct skim *skim, const struct answer *answer) {
    if (!skim->asks) return DONE;
    skim->asks = false;
    if (!(answer->flags & ONCE) && remember(skim, answer)) return NO_MEMORY;
    if (follow(skim, here(skim), answer)) return NO_MEMORY;
    pass(skim);
    return go_on(skim);
}

const struct question *skim_question(const struct skim *skim) { return &skim->question; }

/* Ends the segment; returns how many lines it has, or NO_MEMORY. */
int64_t skim_end(struct skim *skim) {
    int64_t lines = skim->line;
    if (keep_lasts(skim) || run_out(skim)) return NO_MEMORY;
    return lines;
}

/* Hands out the classes and the last lines of each; called once before `skim_clear`. */
int32_t skim_tell(struct skim *skim) {
    for (size_t n = 0; n < skim->class_count; n++) {
        struct class_ *class_ = &skim->classes[n];
        int64_t key = put_bytes(skim, class_->key, class_->key_length);
        struct class_told *told = key < 0 ? NULL : grown(&skim->told, sizeof *told);
        if (!told) return NO_MEMORY;
        *told = (struct class_told){class_->count, (uint64_t)key, class_->key_length, class_->group};
        uint64_t most = class_->kept_count < class_->lasts ? class_->kept_count : class_->lasts;
        for (uint64_t back = most; back > 0; back--) {
            const struct kept *kept = &class_->kept[(class_->kept_count - back) % class_->lasts];
            int64_t text = put_bytes(skim, kept->text, kept->length);
            struct record *record = text < 0 ? NULL : grown(&skim->records, sizeof *record);
            if (!record) return NO_MEMORY;
            *record = (struct record){kept->line, kept->offset, (uint64_t)text, kept->length, READ | LAST,
                                      kept->segment, (uint32_t)n + 1};
        }
    }
    return DONE;
}

/* How many bytes of lines were handed out since the last `skim_clear`. */
uint64_t skim_held(const struct skim *skim) { return skim->bytes.used; }

const uint8_t *skim_bytes(const struct skim *skim, uint64_t *used) { return *used = skim->bytes.used, skim->bytes.data; }
const uint8_t *skim_records(const struct skim *skim, uint64_t *used) { return *used = skim->records.used, skim->records.data; }
const uint8_t *skim_classes(const struct skim *skim, uint64_t *used) { return *used = skim->told.used, skim->told.data; }
