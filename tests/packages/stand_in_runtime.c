/* Stands in for the AppImage's runtime, which no registry has: unpacks what is behind it with unsquashfs, and runs that.
   The real one does the same when it is told to, and otherwise mounts it. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(char *const words[])
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execvp(words[0], words);
        perror(words[0]);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int count, char **words)
{
    char self[4096] = "", folder[] = "/tmp/appimage_extracted_XXXXXX", start[4096], offset[32];
    Elf64_Ehdr header;
    FILE *file = fopen("/proc/self/exe", "rb");
    if (!file || fread(&header, sizeof header, 1, file) != 1 || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    snprintf(offset, sizeof offset, "%lu", (unsigned long)header.e_shoff + header.e_shnum * header.e_shentsize);
    if (count > 1 && !strcmp(words[1], "--appimage-offset"))
        return puts(offset) < 0;
    if (count < 2 || strcmp(words[1], "--appimage-extract-and-run") || !mkdtemp(folder))
        return 1;
    if (run((char *[]){"unsquashfs", "-no-progress", "-quiet", "-force", "-offset", offset, "-dest", folder, self, NULL}))
        return 1;
    setenv("APPIMAGE", self, 1);
    setenv("APPDIR", folder, 1);
    snprintf(start, sizeof start, "%s/AppRun", folder);
    words[1] = start;
    int status = run(words + 1);
    run((char *[]){"rm", "-r", folder, NULL});
    return status;
}
