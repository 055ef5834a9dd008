/* The skim of a block of a log, without an object a line: cuts lines, tells their shapes, counts what is known, and
 * hands out every line that is to be read. skim/plain.py says the same in Python and is what this is tested against.
 *
 * A run is a maximal sequence of hexadecimal digits (0-9, a-f, A-F) that holds a decimal one; a shape is a line without
 * its runs. The first line of each shape is a question, answered by whoever called: `struct answer` says what becomes
 * of the lines of the shape. A class is one group's lines of which the keyed runs are equal. A line that a progress bar
 * wrote over and over is several parts, ended by carriage returns, each with a shape of its own.
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
    LONGEST = 8192,                   /* bytes of a part that has a shape */
    WORDS = LONGEST / 64,
    KEY = 1024,                       /* bytes of a class's key */
    AROUND = 3,                       /* lines before and after one that go with it */
    MOST_SHAPES = 1 << 16,
    MOST_CLASSES = 3 << 16,
    MOST_UNREAD = 1 << 15,            /* classes with which no more of those are begun of which no line is read */
    SLOTS = 1 << 17,                  /* of shapes */
    FEWEST_CLASS_SLOTS = 1 << 10,
    MET_SLOTS = 1 << 18,              /* of shapes that were met: a hash, and how often in its lowest bits */
    OFTEN = 255,                      /* times: fills those bits */
    PREFIXES = 64,                    /* lengths of prefixes that are known */
    PREFIX_SLOTS = 1 << 12,
    BARE = 128                        /* bytes of a line in which a prefix of doubtful kind shows itself */
};

enum { INTERFACE = 2 };               /* as in skim/kernel.py; another one for every change that Python sees */
#define START 0x02                    /* stands in a word for the start of what was said */
#define TELLS 0x80000000u             /* of a state: words end in it */

enum { NO_MEMORY = -1, DONE = 0, ASKS = 1 };
enum { KEEP = 0, FOLD = 1 };
enum { READ = 1, AROUND_ONE = 2, FIRST = 4, LAST = 8, CENTRE = 16, FIRST_OF_GROUP = 32 };
enum { WITH_AROUND = 1, BOUNDARY = 2, ONCE = 4, AWAITS = 8, AWAITED = 16, GROUP_FIRST = 32, PLAIN = 64 };

struct answer {
    uint64_t keyed;                   /* bit n: run n is part of the key; bit 63: all runs from the 64th on */
    uint64_t of_sayer;
    uint64_t changing;                /* runs whose change from the class's line before makes a line worth reading */
    uint64_t spare_keyed;
    uint32_t spare;                   /* group in which lines are counted that have no room in `group`; 0: none */
    uint32_t action;
    uint32_t tally;                   /* what lines that are in no class are counted in */
    uint32_t group;                   /* of the class; 0: none */
    uint32_t sayer;                   /* group of the class of who said it; 0: not told */
    uint32_t firsts, lasts;           /* lines of a class that are handed out */
    uint32_t window;                  /* lines of the sayer after one of these that are to be read as well */
    int32_t watched;                  /* number of a run: a line in which it is 0 or 1 is handed out; -1: none */
    uint32_t prefix;                  /* bytes of the shape before the message, of text without meaning; or ~0 */
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
    uint32_t chosen;                  /* number, from 1, of the class whose first or last it is; or the group */
    uint32_t counted;                 /* number, from 1, of the class it was counted in; 0: in none */
    uint32_t tally;                   /* what it was counted in, if in no class; 0: in none */
};

struct class_told {                   /* a class, as it is handed out */
    uint64_t count;
    uint64_t key;                     /* where in `bytes` */
    uint32_t key_length;
    uint32_t group;
};

struct question {                     /* the part that waits for an answer */
    const uint8_t *text;
    uint64_t length;
    const uint8_t *shape;
    uint64_t shape_length;
};

struct place { int64_t line; uint64_t start; uint32_t length, counted, tally; bool is_out; };
struct kept { int64_t line, offset; uint32_t segment, length, room, counted, tally; uint8_t *text; };

struct class_ {                       /* what is told apart by two hashes of its key is taken for one */
    uint64_t hash, other_hash, count;
    uint32_t group, firsts, lasts, segment;
    uint64_t count_here, kept_count, changing;
    uint8_t *key;
    struct place *here;               /* the last lines of this segment, a ring */
    struct kept *kept;                /* the last lines of the segments before, a ring */
    uint32_t here_room, kept_room;    /* most classes have few lines: their rings grow up to `lasts` */
    int64_t reading_until;            /* a line of this segment up to which all of the class are read */
    uint32_t key_length;
    bool speaks;
};

struct shape { uint64_t hash; uint32_t answer; };
struct prefix { uint64_t hash, of_sayer; uint32_t sayer, tally, length; };
struct array { uint8_t *data; size_t used, room; };

struct skim {
    uint64_t seed;
    bool is_wide;
    struct shape *shapes;
    struct class_slot { uint32_t tag, number; } *class_slots; /* a power of two, at least twice as many as classes */
    size_t class_slot_count;
    struct answer *answers;
    bool *group_seen;
    size_t shape_count, answer_room;
    struct class_ *classes;
    size_t class_count, class_room, unread_count;
    uint64_t *met;
    struct prefix *prefixes;
    uint32_t prefix_lengths[PREFIXES], prefix_length_count, prefix_count;
    bool ends_prefix[PREFIXES][256];  /* of each length, the last bytes of prefixes */
    struct array bytes, records, told, touched, tallies;
    bool overflowed;
    /* what a line of an unknown shape needs to have a meaning: of one need a word of each set */
    uint32_t *states;                 /* `letter_count` next ones of each, with TELLS where words end there */
    uint32_t *tells;                  /* of each state the nearest one, itself or a suffix, in which words end; 0: none */
    uint32_t *suffixes;               /* of each such state the next shorter one */
    uint32_t *first_words, *next_words;
    struct owner { uint32_t need, bit; } *owners;
    uint32_t *wholes, *masks, *epochs;
    uint32_t epoch;
    uint8_t letters[256];
    uint32_t letter_count;
    /* the segment */
    const uint8_t *buffer;
    uint64_t start, own_end, end, at;
    int64_t base, line, around_until, reading_until;
    int64_t own_lines, window_until;  /* once the segment's own lines are done: these, and up to where windows are open */
    bool is_behind;
    uint32_t segment;
    bool boundary_seen, asks, awaits, is_out;  /* is_out: this line was handed out */
    struct place before[AROUND];
    uint32_t before_count;
    /* the line: the parts read so far, taken together in `whole` */
    uint64_t part, part_end, line_end;
    const uint8_t *feed;              /* where `look_plain` found the line's end */
    uint32_t part_count;
    bool is_plain, has_whole;
    struct answer whole;
    size_t sayer_length;              /* of `sayer_key`; SIZE_MAX: none */
    /* the part */
    uint64_t kill[WORDS + 1];
    uint64_t hash;
    size_t word_count, shape_length;
    bool odd;
    struct question question;
    uint8_t shape[LONGEST + 64];
    uint8_t key[KEY + 64];
    uint8_t sayer_key[KEY + 64];
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

struct hashes { uint64_t one, other; };

static struct hashes hashed_twice(uint64_t seed, const uint8_t *text, size_t length) {
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
    return (struct hashes){mixed(hash ^ first, other ^ second), mixed(hash + other, second) ^ other};
}

static uint64_t hashed(uint64_t seed, const uint8_t *text, size_t length) { return hashed_twice(seed, text, length).one; }

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

/* Whether a carriage return ends a part: at a line's very end it belongs to the line. */
static inline bool ends_part(const uint8_t *at, const uint8_t *limit) { return at + 1 < limit && at[1] != '\n'; }

#if WIDE
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))
static void look_wide(struct skim *skim, const uint8_t *text, const uint8_t *limit) {
    /* Finds the part's end, its runs and its shape. */
    uint64_t letters[WORDS + 1];
    uint64_t any = 0, odd = 0, left = (uint64_t)(limit - text);
    size_t words = 0, length = 0;
    const __m512i zero = _mm512_set1_epi8('0'), a = _mm512_set1_epi8('a'), ten = _mm512_set1_epi8(10);
    const __m512i six = _mm512_set1_epi8(6), low = _mm512_set1_epi8(0x20), feed = _mm512_set1_epi8('\n');
    const __m512i back = _mm512_set1_epi8('\r'), nul = _mm512_setzero_si512();
    while (length < left) {
        uint64_t rest = left - length;
        if (words == WORDS) {
            const uint8_t *behind = text + length;
            odd |= *behind != '\n' && !(*behind == '\r' && ends_part(behind, limit));
            break;
        }
        __mmask64 valid = rest >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << rest) - 1;
        __m512i block = _mm512_maskz_loadu_epi8(valid, text + length);
        uint64_t stop = _mm512_mask_cmpeq_epi8_mask(valid, block, feed);
        uint64_t returns = _mm512_mask_cmpeq_epi8_mask(valid, block, back);
        if (returns) {
            for (uint64_t bits = returns; bits; bits &= bits - 1)
                if (ends_part(text + length + __builtin_ctzll(bits), limit)) {
                    stop |= bits & -bits;
                    break;
                }
        }
        if (stop) valid &= (stop & -stop) - 1;
        uint64_t digit = _mm512_mask_cmplt_epu8_mask(valid, _mm512_sub_epi8(block, zero), ten);
        uint64_t letter = _mm512_mask_cmplt_epu8_mask(valid, _mm512_sub_epi8(_mm512_or_si512(block, low), a), six);
        odd |= _mm512_mask_cmpeq_epi8_mask(valid, block, nul);
        skim->kill[words] = digit;
        letters[words] = letter;
        any |= digit;
        words++;
        length += (uint64_t)__builtin_popcountll(valid);
        if (stop) break;
    }
    skim->odd = odd != 0;
    skim->part_end = skim->part + length;
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
    if (!skim->part_count) {          /* once for all parts, of which there may be as many as bytes */
        skim->feed = memchr(text, '\n', (size_t)(limit - text));
        if (!skim->feed) skim->feed = limit;
    }
    size_t length = (size_t)(skim->feed - text);
    const uint8_t *back = text;
    while ((back = memchr(back, '\r', (size_t)(text + length - back))) != NULL) {
        if (ends_part(back, limit)) {
            length = (size_t)(back - text);
            break;
        }
        back++;
    }
    skim->part_end = skim->part + length;
    skim->odd = length > LONGEST || memchr(text, 0, length) != NULL;
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
    size_t used = 0;
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
            memcpy(skim->shape + used, text + word * 64 + bit, span);
            used += span;
            bit += span;
        }
    }
    skim->shape_length = used;
}

static inline void look(struct skim *skim, const uint8_t *text, const uint8_t *limit) {
#if WIDE
    if (skim->is_wide) look_wide(skim, text, limit);
    else
#endif
        look_plain(skim, text, limit);
}

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

static int put_record(struct skim *skim, struct place place, uint32_t flags, uint32_t chosen) {
    int64_t text = put_bytes(skim, skim->buffer + place.start, place.length);
    struct record *record = text < 0 ? NULL : grown(&skim->records, sizeof *record);
    if (!record) return NO_MEMORY;
    *record = (struct record){place.line, skim->base + (int64_t)place.start, (uint64_t)text, place.length, flags,
                              skim->segment, chosen, place.counted, place.tally};
    return DONE;
}

/* A line that goes out, with the lines before it where `around`; those after it follow as they come. */
static int hand_out(struct skim *skim, struct place place, uint32_t flags, uint32_t chosen, bool around) {
    if (around) {
        for (uint32_t n = 0; n < skim->before_count; n++) {
            uint32_t at = (uint32_t)((uint64_t)(place.line + AROUND - (int64_t)skim->before_count + n) % AROUND);
            if (!skim->before[at].is_out && put_record(skim, skim->before[at], AROUND_ONE, 0)) return NO_MEMORY;
            skim->before[at].is_out = true;
        }
        if (place.line + AROUND > skim->around_until) skim->around_until = place.line + AROUND;
    }
    skim->is_out = true;
    return put_record(skim, place, around ? flags | CENTRE : flags, chosen);
}

/* --- classes -------------------------------------------------------------------------------------------- */

static bool is_full(const struct skim *skim, bool is_unread) {
    return skim->class_count >= MOST_CLASSES || (is_unread && skim->unread_count >= MOST_UNREAD);
}

static int more_class_slots(struct skim *skim) {
    size_t count = skim->class_slot_count * 2;
    struct class_slot *slots = calloc(count, sizeof *slots);
    if (!slots) return NO_MEMORY;
    for (size_t n = 0; n < skim->class_count; n++) {
        size_t slot = skim->classes[n].hash & (count - 1);
        while (slots[slot].number) slot = (slot + 1) & (count - 1);
        slots[slot] = (struct class_slot){(uint32_t)(skim->classes[n].hash >> 32), (uint32_t)n + 1};
    }
    free(skim->class_slots);
    skim->class_slots = slots;
    skim->class_slot_count = count;
    return DONE;
}

static struct class_ *class_of(struct skim *skim, uint32_t group, const uint8_t *key, size_t key_length, uint32_t firsts,
                               uint32_t lasts, bool is_unread) {
    struct hashes hashes = hashed_twice(skim->seed ^ group, key, key_length);
    uint64_t hash = hashes.one;
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t slot = hash & (skim->class_slot_count - 1);
    for (; skim->class_slots[slot].number; slot = (slot + 1) & (skim->class_slot_count - 1)) {
        if (skim->class_slots[slot].tag != tag) continue;
        struct class_ *known = &skim->classes[skim->class_slots[slot].number - 1];
        if (known->hash == hash && known->other_hash == hashes.other && known->group == group) return known;
    }
    /* Classes of which no line is read leave room for the others. */
    if (is_full(skim, is_unread)) {
        skim->overflowed = true;
        return NULL;
    }
    if (2 * (skim->class_count + 1) > skim->class_slot_count) {
        if (more_class_slots(skim)) return NULL;
        slot = hash & (skim->class_slot_count - 1);
        while (skim->class_slots[slot].number) slot = (slot + 1) & (skim->class_slot_count - 1);
    }
    if (skim->class_count == skim->class_room) {
        size_t room = skim->class_room ? skim->class_room * 2 : 256;
        struct class_ *classes = realloc(skim->classes, room * sizeof *classes);
        if (!classes) return NULL;
        skim->classes = classes;
        skim->class_room = room;
    }
    struct class_ new = {.hash = hash, .other_hash = hashes.other, .group = group, .key_length = (uint32_t)key_length, .firsts = firsts,
                         .lasts = lasts, .reading_until = -1, .segment = ~(uint32_t)0};
    new.key = malloc(key_length + 1);
    if (!new.key) return NULL;
    memcpy(new.key, key, key_length);
    skim->classes[skim->class_count++] = new;
    skim->unread_count += is_unread;
    skim->class_slots[slot] = (struct class_slot){tag, (uint32_t)skim->class_count};
    return &skim->classes[skim->class_count - 1];
}

static uint32_t more_room(uint32_t room, uint32_t most) {
    uint32_t more = room ? room * 2 : 1;
    return more < most ? more : most;
}

/* The runs of a text that `wanted` asks for, each ended by a byte that none holds; SIZE_MAX where they are too long. */
static size_t put_key(const struct skim *skim, uint8_t *key, const uint8_t *text, size_t length, uint64_t wanted) {
    size_t used = 0, from = 0;
    unsigned number = 0;
    bool is_open = false;
    for (size_t word = 0; word <= skim->word_count && wanted >> (number < 63 ? number : 63); word++) {
        uint64_t bits = word < skim->word_count ? skim->kill[word] : 0;
        unsigned bit = 0;
        while (is_open || bits) {
            if (!is_open) {
                bit = (unsigned)__builtin_ctzll(bits);
                from = word * 64 + bit;
                is_open = true;
            }
            uint64_t beyond = ~(bits >> bit);
            unsigned end = beyond ? bit + (unsigned)__builtin_ctzll(beyond) : 64;
            if (end >= 64 && word < skim->word_count) break;
            size_t to = word * 64 + end < length ? word * 64 + end : length;
            is_open = false;
            if (wanted >> (number < 63 ? number : 63) & 1) {
                if (used + (to - from) + 1 > KEY) return SIZE_MAX;
                memcpy(key + used, text + from, to - from);
                used += to - from;
                key[used++] = ' ';
            }
            number++;
            if (!(wanted >> (number < 63 ? number : 63))) return used;
            bits = end >= 64 ? 0 : bits & (~(uint64_t)0 << end);
            bit = end;
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

/* Where the next line of a class in this segment goes; NULL where there is no more memory. */
static struct place *next_here(struct class_ *class_) {
    size_t at = class_->count_here % class_->lasts;
    if (at >= class_->here_room) {
        uint32_t room = more_room(class_->here_room, class_->lasts);
        struct place *here = realloc(class_->here, room * sizeof *here);
        if (!here) return NULL;
        class_->here = here;
        class_->here_room = room;
    }
    return &class_->here[at];
}

static struct kept *next_kept(struct class_ *class_) {
    size_t at = class_->kept_count % class_->lasts;
    if (at >= class_->kept_room) {
        uint32_t room = more_room(class_->kept_room, class_->lasts);
        struct kept *kept = realloc(class_->kept, room * sizeof *kept);
        if (!kept) return NULL;
        memset(kept + class_->kept_room, 0, (room - class_->kept_room) * sizeof *kept);
        class_->kept = kept;
        class_->kept_room = room;
    }
    return &class_->kept[at];
}

/* Notes that a class has a line in this segment. */
static int touch(struct skim *skim, struct class_ *class_) {
    if (class_->segment == skim->segment) return DONE;
    uint32_t *touched = grown(&skim->touched, sizeof *touched);
    if (!touched) return NO_MEMORY;
    *touched = (uint32_t)(class_ - skim->classes);
    class_->segment = skim->segment;
    class_->count_here = 0;
    class_->reading_until = -1;
    class_->changing = 0;
    return DONE;
}

static int keep_lasts(struct skim *skim) {
    const uint32_t *touched = (const uint32_t *)skim->touched.data;
    for (size_t n = 0; n < skim->touched.used / sizeof *touched; n++) {
        struct class_ *class_ = &skim->classes[touched[n]];
        uint64_t most = class_->count_here < class_->lasts ? class_->count_here : class_->lasts;
        for (uint64_t back = most; back > 0; back--) {
            struct place *place = &class_->here[(class_->count_here - back) % class_->lasts];
            struct kept *kept = next_kept(class_);
            if (!kept) return NO_MEMORY;
            if (kept->room < place->length) {
                uint8_t *text = realloc(kept->text, place->length);
                if (!text) return NO_MEMORY;
                kept->text = text;
                kept->room = place->length;
            }
            if (place->length) memcpy(kept->text, skim->buffer + place->start, place->length);
            kept->line = place->line;
            kept->offset = skim->base + (int64_t)place->start;
            kept->segment = skim->segment;
            kept->length = place->length;
            kept->counted = place->counted;
            kept->tally = place->tally;
            class_->kept_count++;
        }
        class_->segment = ~(uint32_t)0;
    }
    skim->touched.used = 0;
    return DONE;
}

/* At the first boundary of a segment, the last words of everybody who spoke in it. */
static int report_last_words(struct skim *skim) {
    const uint32_t *touched = (const uint32_t *)skim->touched.data;
    for (size_t n = 0; n < skim->touched.used / sizeof *touched; n++) {
        struct class_ *class_ = &skim->classes[touched[n]];
        if (class_->speaks && class_->count_here &&
            put_record(skim, class_->here[(class_->count_here - 1) % class_->lasts], READ, 0))
            return NO_MEMORY;
    }
    return DONE;
}

static int count_tally(struct skim *skim, struct place *place, uint32_t tally) {
    place->tally = tally;
    size_t wanted = ((size_t)tally + 1) * sizeof(uint64_t);
    while (skim->tallies.used < wanted) {
        uint64_t *more = grown(&skim->tallies, sizeof *more);
        if (!more) return NO_MEMORY;
        *more = 0;
    }
    ((uint64_t *)skim->tallies.data)[tally]++;
    return DONE;
}

/* Finds the class of a line; NULL where its key is too long, or there is no room for one more. */
static int class_for(struct skim *skim, const struct place *place, const struct answer *answer, struct class_ **found) {
    const uint8_t *text = skim->buffer + place->start, *key = skim->key;
    size_t length;
    *found = NULL;
    if (answer->sayer && answer->keyed == answer->of_sayer) {
        key = skim->sayer_key;
        length = skim->sayer_length;
    } else {
        length = put_key(skim, skim->key, text, place->length, answer->keyed);
    }
    if (length == SIZE_MAX) return DONE;
    bool is_unread = !answer->firsts && answer->spare;
    *found = class_of(skim, answer->group, key, length, answer->firsts, answer->lasts, is_unread);
    if (*found) return DONE;
    if (!is_full(skim, is_unread)) return NO_MEMORY;
    if (!answer->spare) return DONE;
    length = put_key(skim, skim->key, text, place->length, answer->spare_keyed);
    if (length == SIZE_MAX) return DONE;
    *found = class_of(skim, answer->spare, skim->key, length, 0, 0, false);
    return *found || is_full(skim, false) ? DONE : NO_MEMORY;
}

/* Enters a line in the class of its answer, or where there is none in a tally. `is_read`: there is a reason to read it. */
static int enter_class(struct skim *skim, struct place *place, const struct answer *answer, bool *is_read) {
    const uint8_t *text = skim->buffer + place->start;
    if (!answer->group) return count_tally(skim, place, answer->tally);
    struct class_ *class_;
    if (class_for(skim, place, answer, &class_)) return NO_MEMORY;
    if (!class_) {
        if (!answer->firsts) return count_tally(skim, place, answer->tally);
        *is_read = true;              /* it is not counted, since it is read */
        return DONE;
    }
    if ((class_->lasts || answer->changing) && touch(skim, class_)) return NO_MEMORY;
    uint32_t number = (uint32_t)(class_ - skim->classes) + 1;
    place->counted = number;
    if (answer->changing) {
        size_t run_length = put_key(skim, skim->key, text, place->length, answer->changing);
        uint64_t now = run_length == SIZE_MAX ? 1 : hashed(skim->seed, skim->key, run_length) | 1;
        if (now != class_->changing) {
            *is_read = true;
            if (class_->count_here && class_->lasts &&
                put_record(skim, class_->here[(class_->count_here - 1) % class_->lasts], READ, 0))
                return NO_MEMORY;
        }
        class_->changing = now;
    }
    if (class_->lasts) {
        struct place *next = next_here(class_);
        if (!next) return NO_MEMORY;
        *next = *place;
    }
    class_->count_here++;
    if (class_->count++ < class_->firsts)
        return hand_out(skim, *place, READ | FIRST, number, answer->flags & WITH_AROUND);
    return DONE;
}

static struct class_ *sayer_of(struct skim *skim, const struct answer *answer) {
    if (!answer->sayer || skim->sayer_length == SIZE_MAX) return NULL;
    return class_of(skim, answer->sayer, skim->sayer_key, skim->sayer_length, 1, 1, false);
}

/* Enters a line among those of its sayer. */
static int enter_sayer(struct skim *skim, struct place *place, const struct answer *answer, bool *is_read) {
    struct class_ *sayer = sayer_of(skim, answer);
    if (!sayer) return answer->sayer && skim->sayer_length != SIZE_MAX && !is_full(skim, false) ? NO_MEMORY : DONE;
    sayer->speaks = true;
    if (touch(skim, sayer)) return NO_MEMORY;
    *is_read = *is_read || place->line <= sayer->reading_until;
    struct place *next = next_here(sayer);
    if (!next) return NO_MEMORY;
    *next = *place;
    sayer->count_here++;
    if (sayer->count++ == 0)
        return hand_out(skim, *place, READ | FIRST, (uint32_t)(sayer - skim->classes) + 1, false);
    return DONE;
}

static int fold(struct skim *skim, struct place place, const struct answer *answer, bool *group_seen) {
    const uint8_t *text = skim->buffer + place.start;
    bool is_read = place.line <= skim->reading_until;
    if (enter_class(skim, &place, answer, &is_read) || enter_sayer(skim, &place, answer, &is_read)) return NO_MEMORY;
    if ((answer->flags & GROUP_FIRST) && !(group_seen && *group_seen)) {
        if (group_seen) *group_seen = true;
        if (hand_out(skim, place, READ | FIRST_OF_GROUP, answer->group, false)) return NO_MEMORY;
    }
    if (skim->awaits && (answer->flags & AWAITED)) {
        skim->awaits = false;
        is_read = true;
    }
    if (answer->flags & AWAITS) skim->awaits = true;
    if (is_read || (answer->watched >= 0 && is_at_most_one(skim, text, place.length, answer->watched)))
        return hand_out(skim, place, READ, 0, false);
    if (!skim->is_out && place.line <= skim->around_until) {
        skim->is_out = true;
        return put_record(skim, place, AROUND_ONE, 0);
    }
    return DONE;
}

static int keep(struct skim *skim, struct place place, const struct answer *answer) {
    if ((answer->flags & BOUNDARY) && !skim->boundary_seen) {
        skim->boundary_seen = true;
        if (report_last_words(skim)) return NO_MEMORY;
    }
    if (answer->flags & AWAITED) skim->awaits = false;
    if (answer->flags & AWAITS) skim->awaits = true;
    if (answer->window) {
        struct class_ *sayer = sayer_of(skim, answer);
        int64_t *until = &skim->reading_until;
        if (sayer) {
            if (touch(skim, sayer)) return NO_MEMORY;
            until = &sayer->reading_until;
        }
        if (place.line + answer->window > *until) *until = place.line + answer->window;
    }
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
        bool *seen = realloc(skim->group_seen, room * sizeof *seen);
        if (!seen) return NO_MEMORY;
        skim->group_seen = seen;
        skim->answer_room = room;
    }
    skim->group_seen[skim->shape_count] = false;
    skim->answers[skim->shape_count++] = *answer;
    size_t slot = skim->hash & (SLOTS - 1);
    while (skim->shapes[slot].answer) slot = (slot + 1) & (SLOTS - 1);
    skim->shapes[slot] = (struct shape){skim->hash, (uint32_t)skim->shape_count};
    return DONE;
}

/* --- text without meaning ------------------------------------------------------------------------------- */

/* Whether a text holds all that one of the needs asks for. */
static bool may_mean(struct skim *skim, const uint8_t *text, size_t length) {
    uint32_t state = skim->states[skim->letters[START]] & ~TELLS;
    skim->epoch++;
    for (size_t at = 0; at < length; at++) {
        uint32_t next = skim->states[(size_t)state * skim->letter_count + skim->letters[text[at]]];
        state = next & ~TELLS;
        if (!(next & TELLS)) continue;
        for (uint32_t told = skim->tells[state]; told; told = skim->suffixes[told])
            for (uint32_t word = skim->first_words[told]; word; word = skim->next_words[word]) {
                uint32_t need = skim->owners[word - 1].need;
                if (skim->epochs[need] != skim->epoch) {
                    skim->epochs[need] = skim->epoch;
                    skim->masks[need] = 0;
                }
                skim->masks[need] |= skim->owners[word - 1].bit;
                if (skim->masks[need] == skim->wholes[need]) return true;
            }
    }
    return false;
}

/* Whether a line that begins so cannot have a prefix: no digit, bracket or mark stands where one would. */
static bool is_bare(const uint8_t *text, size_t length) {
    bool in_word = true;
    if (!length || !text[0] || strchr("([{<#%", text[0])) return false;
    for (size_t at = 0; at < length && at < BARE; at++) {
        uint8_t letter = text[at];
        if (letter == ' ' && at) in_word = false;
        if (letter == ':' || letter == '|' || letter == '\t' || letter == 0x1b || (in_word && letter == '-')) return false;
        if (at < 24 && letter >= '0' && letter <= '9') return false;
    }
    return true;
}

static const struct prefix *known_prefix(const struct skim *skim) {
    for (uint32_t n = 0; n < skim->prefix_length_count; n++) {
        uint32_t length = skim->prefix_lengths[n];
        if (length > skim->shape_length || (length && !skim->ends_prefix[n][skim->shape[length - 1]])) continue;
        uint64_t hash = hashed(skim->seed ^ length, skim->shape, length);
        for (size_t slot = hash & (PREFIX_SLOTS - 1); skim->prefixes[slot].sayer; slot = (slot + 1) & (PREFIX_SLOTS - 1))
            if (skim->prefixes[slot].hash == hash) return &skim->prefixes[slot];
    }
    return NULL;
}

static void learn_prefix(struct skim *skim, const struct answer *answer) {
    uint32_t length = answer->prefix, n = 0;
    if (length > skim->shape_length || skim->prefix_count == PREFIX_SLOTS / 2) return;
    while (n < skim->prefix_length_count && skim->prefix_lengths[n] != length) n++;
    if (n == skim->prefix_length_count) {
        if (n == PREFIXES) return;
        skim->prefix_length_count++;
        while (n > 0 && skim->prefix_lengths[n - 1] < length) {
            skim->prefix_lengths[n] = skim->prefix_lengths[n - 1];
            memcpy(skim->ends_prefix[n], skim->ends_prefix[n - 1], sizeof skim->ends_prefix[n]);
            n--;
        }
        skim->prefix_lengths[n] = length;
        memset(skim->ends_prefix[n], 0, sizeof skim->ends_prefix[n]);
    }
    if (length) skim->ends_prefix[n][skim->shape[length - 1]] = true;
    uint64_t hash = hashed(skim->seed ^ length, skim->shape, length);
    size_t slot = hash & (PREFIX_SLOTS - 1);
    for (; skim->prefixes[slot].sayer; slot = (slot + 1) & (PREFIX_SLOTS - 1))
        if (skim->prefixes[slot].hash == hash) return;
    skim->prefixes[slot] = (struct prefix){hash, answer->of_sayer, answer->sayer, answer->tally, length};
    skim->prefix_count++;
}

/* Where in the part the byte of the shape before `shown` stands, plus one: a prefix ends there. */
static size_t behind(const struct skim *skim, size_t shown) {
    size_t left = shown;
    if (!left) return 0;
    for (size_t word = 0;; word++) {
        uint64_t stays = ~skim->kill[word];
        size_t many = (size_t)__builtin_popcountll(stays);
        if (many < left) {
            left -= many;
            continue;
        }
        while (--left) stays &= stays - 1;
        return word * 64 + (size_t)__builtin_ctzll(stays) + 1;
    }
}

/* Answers for a part of an unknown shape that holds no word: as for its prefix, unless the shape was met often. */
static bool answer_of_prose(struct skim *skim, struct answer *answer) {
    if (!skim->states || skim->part_count) return false;
    uint64_t *met = &skim->met[skim->hash & (MET_SLOTS - 1)];
    uint64_t times = (*met ^ skim->hash) <= OFTEN ? *met & OFTEN : 0;
    /* A shape that comes often is worth asking for, unless no more are remembered. */
    if (times == OFTEN && skim->shape_count < MOST_SHAPES) return false;
    const uint8_t *text = skim->buffer + skim->part;
    size_t length = skim->part_end - skim->part;
    const struct prefix *prefix = known_prefix(skim);
    if (!prefix || skim->shape_length == prefix->length || skim->shape[prefix->length] == ' ') return false;
    if (!prefix->length && !is_bare(text, length)) return false;
    size_t begun = behind(skim, prefix->length);
    if (may_mean(skim, text + begun, length - begun)) return false;
    *met = (skim->hash & ~(uint64_t)OFTEN) | (times < OFTEN ? times + 1 : OFTEN);
    *answer = (struct answer){.action = FOLD, .tally = prefix->tally, .sayer = prefix->sayer,
                              .of_sayer = prefix->of_sayer, .watched = -1, .flags = PLAIN};
    return true;
}

/* --- the segment ---------------------------------------------------------------------------------------- */

static struct place here(const struct skim *skim) {
    return (struct place){skim->line, skim->at, (uint32_t)(skim->line_end - skim->at), 0, 0, skim->is_out};
}

static void pass(struct skim *skim) {
    skim->before[(uint64_t)(skim->line + AROUND) % AROUND] = here(skim);
    if (skim->before_count < AROUND) skim->before_count++;
    skim->is_out = false;
    skim->line++;
    skim->at = skim->line_end < skim->end ? skim->line_end + 1 : skim->end;
    skim->part = skim->at;
    skim->part_count = 0;
    skim->has_whole = false;
    skim->is_plain = true;
}

static uint64_t feed_from(const struct skim *skim, uint64_t at) {
    const uint8_t *feed = at < skim->end ? memchr(skim->buffer + at, '\n', skim->end - at) : NULL;
    return feed ? (uint64_t)(feed - skim->buffer) : skim->end;
}

static bool is_last_part(const struct skim *skim) {
    return skim->part_end >= skim->end || skim->buffer[skim->part_end] == '\n';
}

static int hand_out_whole(struct skim *skim) {
    skim->line_end = feed_from(skim, skim->part_end);
    int result = hand_out(skim, here(skim), READ, 0, false);
    pass(skim);
    return result;
}

/* Goes on from a part with an answer: to the next part, or to the line's end. */
static int take_part(struct skim *skim, const struct answer *answer, bool *group_seen) {
    bool last = is_last_part(skim);
    size_t length = skim->part_end - skim->part;
    if (!skim->part_count || !skim->has_whole) {
        skim->sayer_length = SIZE_MAX;
        if (answer->sayer)
            skim->sayer_length = put_key(skim, skim->sayer_key, skim->buffer + skim->part, length, answer->of_sayer);
    }
    if (last && !skim->part_count) {
        skim->line_end = skim->part_end;
        int result = answer->action == FOLD ? fold(skim, here(skim), answer, group_seen) : keep(skim, here(skim), answer);
        pass(skim);
        return result;
    }
    /* What is written over counts for nothing but for who wrote it, if all parts are of bulk kinds. */
    skim->is_plain = skim->is_plain && answer->action == FOLD && (answer->flags & PLAIN);
    if (!skim->is_plain) return hand_out_whole(skim);
    if (length) {
        if (!skim->has_whole) {
            skim->whole = *answer;
            skim->whole.group = 0;
            skim->whole.watched = -1;
            skim->whole.flags = PLAIN | (answer->flags & AWAITED);
            skim->has_whole = true;
        } else {
            skim->whole.tally = answer->tally;
            skim->whole.flags |= answer->flags & AWAITED;
        }
    }
    skim->part_count++;
    if (!last) {
        skim->part = skim->part_end + 1;
        return DONE;
    }
    skim->line_end = skim->part_end;
    int result = skim->has_whole ? fold(skim, here(skim), &skim->whole, NULL) : DONE;
    pass(skim);
    return result;
}

static int ask(struct skim *skim) {
    skim->question = (struct question){skim->buffer + skim->part, skim->part_end - skim->part, skim->shape,
                                       skim->shape_length};
    skim->asks = true;
    return ASKS;
}

/* --- behind the segment --------------------------------------------------------------------------------- */

/* What a line that the segment behind counts is counted in there, if it is read here as well. */
static int note_count(struct skim *skim, struct place *place, const struct answer *answer) {
    if (!answer->group || !is_last_part(skim)) {
        place->tally = answer->tally;
        return DONE;
    }
    struct class_ *class_;
    if (answer->sayer)
        skim->sayer_length =
            put_key(skim, skim->sayer_key, skim->buffer + place->start, place->length, answer->of_sayer);
    if (class_for(skim, place, answer, &class_)) return NO_MEMORY;
    if (class_) place->counted = (uint32_t)(class_ - skim->classes) + 1;
    else if (!answer->firsts) place->tally = answer->tally;
    return DONE;
}

/* Hands out a line behind the segment if it belongs to one of its last lines, and passes it. */
static int take_behind(struct skim *skim, const struct answer *answer) {
    struct place place = here(skim);
    bool is_read = skim->line <= skim->reading_until;
    if (answer && answer->action == FOLD) {
        if (answer->sayer && !is_full(skim, false)) {
            skim->sayer_length =
                put_key(skim, skim->sayer_key, skim->buffer + skim->at, skim->part_end - skim->at, answer->of_sayer);
            struct class_ *sayer = sayer_of(skim, answer);
            is_read = is_read || (sayer && sayer->segment == skim->segment && skim->line <= sayer->reading_until);
        }
        if (is_read && note_count(skim, &place, answer)) return NO_MEMORY;
    }
    int result = DONE;
    if (is_read || skim->line <= skim->around_until)
        result = put_record(skim, place, is_read ? READ : AROUND_ONE, 0);
    pass(skim);
    return result;
}

static void begin_behind(struct skim *skim) {
    const uint32_t *touched = (const uint32_t *)skim->touched.data;
    skim->own_lines = skim->line;
    skim->is_behind = true;
    skim->window_until = skim->reading_until;
    for (size_t n = 0; n < skim->touched.used / sizeof *touched; n++) {
        int64_t until = skim->classes[touched[n]].reading_until;
        if (until > skim->window_until) skim->window_until = until;
    }
}

/* Reads on behind the segment until a line asks (ASKS) or none belongs to its last lines any more (DONE). */
static int go_behind(struct skim *skim) {
    while (skim->at < skim->end && (skim->line <= skim->window_until || skim->line <= skim->around_until)) {
        skim->line_end = feed_from(skim, skim->at);
        if (skim->line_end == skim->end) break;
        look(skim, skim->buffer + skim->at, skim->buffer + skim->end);
        const struct answer *answer = NULL;
        struct answer prose;
        if (!skim->odd && skim->line <= skim->window_until) {
            skim->hash = hashed(skim->seed, skim->shape, skim->shape_length);
            answer = known_answer(skim);
            if (!answer && answer_of_prose(skim, &prose)) answer = &prose;
            if (!answer) return ask(skim);
        }
        if (take_behind(skim, answer)) return NO_MEMORY;
    }
    return DONE;
}

/* Reads on until a part asks (ASKS) or the segment is done (DONE). */
static int go_on(struct skim *skim) {
    while (skim->at < skim->own_end) {
        look(skim, skim->buffer + skim->part, skim->buffer + skim->end);
        int result;
        if (skim->odd) {
            result = hand_out_whole(skim);
        } else {
            skim->hash = hashed(skim->seed, skim->shape, skim->shape_length);
            const struct answer *answer = known_answer(skim);
            struct answer prose;
            if (!answer && answer_of_prose(skim, &prose)) {
                result = take_part(skim, &prose, NULL);
            } else if (!answer) {
                return ask(skim);
            } else {
                result = take_part(skim, answer, &skim->group_seen[answer - skim->answers]);
            }
        }
        if (result) return result;
    }
    if (!skim->is_behind) begin_behind(skim);
    return go_behind(skim);
}

static void look_back(struct skim *skim, uint64_t lead) {
    /* The lines before the segment, as far as they are whole. */
    uint64_t end = skim->start;
    for (int64_t line = -1; line >= -AROUND && end > lead; line--) {
        uint64_t start = end - 1;
        while (start > lead && skim->buffer[start - 1] != '\n') start--;
        if (start == lead && skim->base + (int64_t)lead > 0) break;
        skim->before[(uint64_t)(line + AROUND) % AROUND] =
            (struct place){line, start, (uint32_t)(end - 1 - start), 0, 0, false};
        skim->before_count++;
        end = start;
    }
}

/* --- what Python calls ---------------------------------------------------------------------------------- */

uint32_t skim_version(void) { return INTERFACE; }

struct skim *skim_new(uint64_t seed, int32_t may_be_wide) {
    struct skim *skim = calloc(1, sizeof *skim);
    if (!skim) return NULL;
    skim->seed = seed;
    skim->shapes = calloc(SLOTS, sizeof *skim->shapes);
    skim->class_slot_count = FEWEST_CLASS_SLOTS;
    skim->class_slots = calloc(skim->class_slot_count, sizeof *skim->class_slots);
    skim->met = calloc(MET_SLOTS, sizeof *skim->met);
    skim->prefixes = calloc(PREFIX_SLOTS, sizeof *skim->prefixes);
#if WIDE
    __builtin_cpu_init();
    skim->is_wide = may_be_wide && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                    __builtin_cpu_supports("bmi2");
#endif
    (void)may_be_wide;
    if (skim->shapes && skim->class_slots && skim->met && skim->prefixes) return skim;
    free(skim->shapes);
    free(skim->class_slots);
    free(skim->met);
    free(skim->prefixes);
    free(skim);
    return NULL;
}

static void forget_needs(struct skim *skim) {
    free(skim->states);
    free(skim->tells);
    free(skim->suffixes);
    free(skim->first_words);
    free(skim->next_words);
    free(skim->owners);
    free(skim->wholes);
    free(skim->masks);
    free(skim->epochs);
    skim->states = NULL;
}

/* Takes words in lower case, each ended by a line feed, of each the need and the bit of its set, and of each need all
 * bits: one automaton finds which words a text holds. */
int32_t skim_needs(struct skim *skim, const uint8_t *words, uint64_t length, const uint8_t *owners, const uint8_t *wholes,
                   uint32_t need_count) {
    forget_needs(skim);
    bool used[256] = {false};
    size_t word_count = 0;
    for (uint64_t at = 0; at < length; at++) {
        if (words[at] == '\n') word_count++;
        else used[words[at]] = true;
    }
    skim->letter_count = 1;
    memset(skim->letters, 0, sizeof skim->letters);
    for (unsigned letter = 0; letter < 256; letter++)
        if (used[letter]) skim->letters[letter] = (uint8_t)skim->letter_count++;
    for (unsigned letter = 'A'; letter <= 'Z'; letter++) skim->letters[letter] = skim->letters[letter | 0x20];
    size_t most = length + 2, width = skim->letter_count;
    uint32_t *fails = calloc(most, sizeof *fails), *queue = calloc(most, sizeof *queue);
    skim->states = calloc(most * width, sizeof *skim->states);
    skim->tells = calloc(most, sizeof *skim->tells);
    skim->suffixes = calloc(most, sizeof *skim->suffixes);
    skim->first_words = calloc(most, sizeof *skim->first_words);
    skim->next_words = calloc(word_count + 1, sizeof *skim->next_words);
    skim->owners = calloc(word_count + 1, sizeof *skim->owners);
    skim->wholes = calloc(need_count + 1, sizeof *skim->wholes);
    skim->masks = calloc(need_count + 1, sizeof *skim->masks);
    skim->epochs = calloc(need_count + 1, sizeof *skim->epochs);
    if (!fails || !queue || !skim->states || !skim->tells || !skim->suffixes || !skim->first_words || !skim->next_words ||
        !skim->owners || !skim->wholes || !skim->masks || !skim->epochs) {
        free(fails);
        free(queue);
        forget_needs(skim);
        return NO_MEMORY;
    }
    memcpy(skim->owners, owners, word_count * sizeof *skim->owners);
    memcpy(skim->wholes, wholes, need_count * sizeof *skim->wholes);
    uint32_t *states = skim->states, count = 1, state = 0, word = 0;
    for (uint64_t at = 0; at < length; at++) {
        if (words[at] == '\n') {
            word++;
            skim->next_words[word] = skim->first_words[state];
            skim->first_words[state] = word;
            state = 0;
            continue;
        }
        uint32_t *next = &states[state * width + skim->letters[words[at]]];
        if (!*next) *next = count++;
        state = *next;
    }
    size_t head = 0, tail = 0;
    for (size_t letter = 0; letter < width; letter++)
        if (states[letter]) queue[tail++] = states[letter];
    while (head < tail) {
        uint32_t from = queue[head++];
        skim->suffixes[from] = skim->tells[fails[from]];
        skim->tells[from] = skim->first_words[from] ? from : skim->suffixes[from];
        for (size_t letter = 0; letter < width; letter++) {
            uint32_t *next = &states[from * width + letter];
            uint32_t other = states[fails[from] * width + letter];
            if (*next) {
                fails[*next] = other;
                queue[tail++] = *next;
            } else {
                *next = other;
            }
        }
    }
    for (size_t place = 0; place < count * width; place++)
        if (skim->tells[states[place]]) states[place] |= TELLS;
    free(fails);
    free(queue);
    return DONE;
}

static void let_go(struct array *array) {
    free(array->data);
    *array = (struct array){0};
}

/* Lets go of all classes and of what was handed out; the shapes' answers stay. */
void skim_clear(struct skim *skim) {
    for (size_t n = 0; n < skim->class_count; n++) {
        struct class_ *class_ = &skim->classes[n];
        for (uint32_t last = 0; last < class_->kept_room; last++) free(class_->kept[last].text);
        free(class_->key);
        free(class_->here);
        free(class_->kept);
    }
    skim->class_count = skim->unread_count = 0;
    skim->overflowed = false;
    memset(skim->class_slots, 0, skim->class_slot_count * sizeof *skim->class_slots);
    if (skim->group_seen) memset(skim->group_seen, 0, skim->shape_count * sizeof *skim->group_seen);
    let_go(&skim->bytes);
    let_go(&skim->records);
    let_go(&skim->told);
    let_go(&skim->touched);
    let_go(&skim->tallies);
    free(skim->classes);
    skim->classes = NULL;
    skim->class_room = 0;
}

void skim_free(struct skim *skim) {
    skim_clear(skim);
    free(skim->answers);
    free(skim->group_seen);
    free(skim->shapes);
    free(skim->class_slots);
    free(skim->met);
    free(skim->prefixes);
    forget_needs(skim);
    free(skim);
}

/* Begins a segment: its own lines start in [start, own_end) of a buffer of `end` bytes, of which the first stands at
 * `base` in the input; what lies before and behind are lines of other segments. */
int32_t skim_begin(struct skim *skim, const uint8_t *buffer, uint64_t start, uint64_t own_end, uint64_t end, int64_t base,
                   uint32_t segment) {
    skim->buffer = buffer;
    skim->start = skim->at = skim->part = start;
    skim->own_end = own_end;
    skim->end = end;
    skim->base = base;
    skim->segment = segment;
    skim->line = 0;
    skim->around_until = skim->reading_until = -1;
    skim->is_behind = skim->boundary_seen = skim->asks = skim->is_out = skim->has_whole = false;
    skim->is_plain = true;
    skim->part_count = 0;
    skim->awaits = true;               /* for a line of the segment before */
    skim->before_count = 0;
    look_back(skim, 0);
    return go_on(skim);
}

/* Answers the question that `skim_begin` or this asked, and goes on. */
int32_t skim_answer(struct skim *skim, const struct answer *answer) {
    if (!skim->asks) return DONE;
    skim->asks = false;
    bool *seen = NULL;
    if (answer->prefix != ~(uint32_t)0) learn_prefix(skim, answer);
    if (!(answer->flags & ONCE)) {
        size_t before = skim->shape_count;
        if (remember(skim, answer)) return NO_MEMORY;
        if (skim->shape_count > before) seen = &skim->group_seen[before];
    }
    if (skim->is_behind ? take_behind(skim, answer) : take_part(skim, answer, seen)) return NO_MEMORY;
    return go_on(skim);
}

const struct question *skim_question(const struct skim *skim) { return &skim->question; }

/* Ends the segment; returns how many lines it has, or NO_MEMORY. */
int64_t skim_end(struct skim *skim) {
    return keep_lasts(skim) ? NO_MEMORY : skim->own_lines;
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
                                      kept->segment, (uint32_t)n + 1, kept->counted, kept->tally};
        }
    }
    return DONE;
}

/* How many bytes of lines were handed out since the last `skim_clear`, and of records of them. What classes take is
 * bounded by how many of them there may be. */
uint64_t skim_held(const struct skim *skim) { return skim->bytes.used + skim->records.used; }

/* Whether there were more classes than are kept apart. */
int32_t skim_overflowed(const struct skim *skim) { return skim->overflowed; }

const uint8_t *skim_bytes(const struct skim *skim, uint64_t *used) { return *used = skim->bytes.used, skim->bytes.data; }
const uint8_t *skim_records(const struct skim *skim, uint64_t *used) { return *used = skim->records.used, skim->records.data; }
const uint8_t *skim_classes(const struct skim *skim, uint64_t *used) { return *used = skim->told.used, skim->told.data; }
const uint8_t *skim_tallies(const struct skim *skim, uint64_t *used) { return *used = skim->tallies.used, skim->tallies.data; }
