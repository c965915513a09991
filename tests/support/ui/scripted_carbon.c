/* The part of macOS's Carbon and Core Foundation that Sotto calls, with a keyboard and another program that tests
   command. Types and order of the parameters are those of Apple's headers (CarbonEvents.h, CarbonEventsCore.h,
   TextInputSources.h, UnicodeUtilities.h, CFData.h). */

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t signature, id;
} HotKeyID;
typedef struct {
    uint32_t event_class, kind;
} EventType;
typedef int32_t (*Handler)(void *call, void *event, void *data);

enum { KEYBOARD = 'k' << 24 | 'e' << 16 | 'y' << 8 | 'b', PRESSED = 5, TAKEN = -9878, BAD = -50 };

static int target, key_reference, source, table;
static Handler handler;
static uint32_t taken_code, taken_modifiers, elsewhere_code = UINT32_MAX, elsewhere_modifiers;
static int is_taken;
int released_sources, copied_sources;
/* What each key types; without a layout, the system has none that can be read. */
static uint16_t typed[128];
static int has_layout;
const void *kTISPropertyUnicodeKeyLayoutData = &table;

void *GetApplicationEventTarget(void) { return &target; }

int32_t InstallEventHandler(void *where, Handler wanted, unsigned long count, const EventType *kinds, void *data,
                            void **reference) {
    if (where != &target || count != 1 || kinds->event_class != KEYBOARD || kinds->kind != PRESSED) return BAD;
    if (data != NULL || reference != NULL) return BAD;
    handler = wanted;
    return 0;
}

int32_t RegisterEventHotKey(uint32_t code, uint32_t modifiers, HotKeyID id, void *where, uint32_t options,
                            void **reference) {
    if (where != &target || id.signature == 0 || options != 0) return BAD;
    if (code == elsewhere_code && modifiers == elsewhere_modifiers) return TAKEN;
    taken_code = code, taken_modifiers = modifiers, is_taken = 1;
    *reference = &key_reference;
    return 0;
}

int32_t UnregisterEventHotKey(void *reference) {
    if (reference != &key_reference || !is_taken) return BAD;
    is_taken = 0;
    return 0;
}

void *TISCopyCurrentASCIICapableKeyboardLayoutInputSource(void) {
    copied_sources++;
    return &source;
}

const void *TISGetInputSourceProperty(void *from, const void *name) {
    return from == &source && name == &table && has_layout ? &table : NULL;
}

const uint8_t *CFDataGetBytePtr(const void *data) { return data == &table ? (const uint8_t *)typed : NULL; }

void CFRelease(const void *object) { released_sources += object == &source; }

uint8_t LMGetKbdType(void) { return 40; }

int32_t UCKeyTranslate(const void *layout, uint16_t code, uint16_t action, uint32_t modifiers, uint32_t keyboard,
                       uint32_t options, uint32_t *accent, unsigned long most, unsigned long *count, uint16_t *text) {
    if (layout != typed || action != 3 || modifiers != 0 || keyboard != 40 || options != 1 || *accent != 0) return BAD;
    *count = typed[code] != 0 && most > 0;
    if (*count) text[0] = typed[code];
    return 0;
}

/* What tests do. */

void type_with(const uint16_t *letters) {
    has_layout = letters != NULL;
    for (int i = 0; i < 128; i++) typed[i] = letters != NULL ? letters[i] : 0;
}

void take_elsewhere(uint32_t code, uint32_t modifiers) { elsewhere_code = code, elsewhere_modifiers = modifiers; }

int press(uint32_t code, uint32_t modifiers) {
    const int hit = is_taken && code == taken_code && modifiers == taken_modifiers;
    if (hit) handler(NULL, NULL, NULL);
    return hit;
}
