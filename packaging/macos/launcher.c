/* Sotto's program in the bundle: runs Python in this process, so that the Dock, the menu bar and shortcuts belong to
   Sotto and not to a program called Python. Compiled by launcher.py, which defines VERSION, such as "3.13".

   Everything is looked up while it runs, so that a bundle that lacks something can say so. */

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#define LIBRARY "Versions/" VERSION "/Python"
#else
#define LIBRARY "Versions/" VERSION "/Python.so"
#endif

#define FRAMEWORK "Python.framework/"
/* The exit status of an app that lacks something. */
#define INCOMPLETE 78

static const char *const REINSTALL = "Sotto is incomplete: delete it, and install it again.";

/* Shows a sentence: in the terminal, and in a dialog if nobody sees the terminal. */
static int fail(const char *sentence) {
    fprintf(stderr, "%s\n", sentence);
#ifdef __APPLE__
    void *cf = dlopen("/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation", RTLD_LAZY);
    if (cf == NULL || isatty(STDERR_FILENO)) return INCOMPLETE;
    const void *(*text)(const void *, const char *, uint32_t) = dlsym(cf, "CFStringCreateWithCString");
    int32_t (*alert)(double, unsigned long, const void *, const void *, const void *, const void *, const void *,
                     const void *, const void *, const void *, unsigned long *) =
        dlsym(cf, "CFUserNotificationDisplayAlert");
    const uint32_t utf8 = 0x08000100;
    const unsigned long stop = 0;
    unsigned long answer;
    if (text != NULL && alert != NULL)
        alert(0, stop, NULL, NULL, NULL, text(NULL, "Sotto cannot be opened", utf8), text(NULL, sentence, utf8), NULL,
              NULL, NULL, &answer);
#endif
    return INCOMPLETE;
}

/* Writes the path of this program without links. */
static int own_path(char *path) {
#ifdef __APPLE__
    char raw[PATH_MAX];
    uint32_t size = sizeof raw;
    return _NSGetExecutablePath(raw, &size) == 0 && realpath(raw, path) != NULL;
#else
    return realpath("/proc/self/exe", path) != NULL;
#endif
}

/* Loads Python, and writes the folder in which its own modules are: the bundle's, or that of one that is installed if
   the bundle was built without. */
static void *load_python(const char *contents, char *home) {
    char path[2 * PATH_MAX];
    snprintf(home, PATH_MAX, "%s/Frameworks/" FRAMEWORK "Versions/" VERSION, contents);
    snprintf(path, sizeof path, "%s/Frameworks/" FRAMEWORK LIBRARY, contents);
#ifdef INSTALLED_PYTHON
    const char *const installed[] = {"/Library/Frameworks/" FRAMEWORK,
                                     "/opt/homebrew/opt/python@" VERSION "/Frameworks/" FRAMEWORK};
    for (size_t i = 0; i < sizeof installed / sizeof *installed && access(path, R_OK) != 0; i++) {
        snprintf(home, PATH_MAX, "%sVersions/" VERSION, installed[i]);
        snprintf(path, sizeof path, "%s" LIBRARY, installed[i]);
    }
#endif
    /* Extension modules take Python's functions from whichever library has them. */
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

int main(int count, char **given) {
    char own[PATH_MAX], contents[PATH_MAX], start[PATH_MAX + 32], home[PATH_MAX];
    if (!own_path(own)) return fail("Sotto cannot find its own folder: move it into the folder Applications.");
    strcpy(contents, own);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(contents, '/');
        if (slash == NULL) return fail(REINSTALL);
        *slash = '\0';
    }
    snprintf(start, sizeof start, "%s/Resources/start.pyc", contents);
    if (access(start, R_OK) != 0) return fail(REINSTALL);
    void *python = load_python(contents, home);
    if (python == NULL) {
#ifdef INSTALLED_PYTHON
        return fail("This copy of Sotto comes without Python: install Python " VERSION " from python.org.");
#else
        fprintf(stderr, "%s\n", dlerror());
        return fail(REINSTALL);
#endif
    }
    void (*set_home)(const wchar_t *) = dlsym(python, "Py_SetPythonHome");
    wchar_t *(*decode)(const char *, size_t *) = dlsym(python, "Py_DecodeLocale");
    int (*run)(int, char **) = dlsym(python, "Py_BytesMain");
    if (set_home == NULL || decode == NULL || run == NULL) return fail(REINSTALL);
    /* Kept as long as Python runs. */
    wchar_t *wide = decode(home, NULL);
    char **arguments = calloc((size_t)count + 8, sizeof *arguments);
    if (wide == NULL || arguments == NULL) return fail("There is not enough memory to open Sotto.");
    set_home(wide);
    /* Isolated from the person's own Python; no bytecode is written, which would break the signature. */
    char *const options[] = {own, "-I", "-B", "-S", "-X", "utf8", start};
    const int known = sizeof options / sizeof *options;
    memcpy(arguments, options, sizeof options);
    for (int i = 1; i < count; i++) arguments[known + i - 1] = given[i];
    const int status = run(known + count - 1, arguments);
    /* start.py exits by itself, other than for an error (1), and where it cannot find what it should start. */
    return status == 0 ? fail(REINSTALL) : status;
}
