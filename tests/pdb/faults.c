/* Stands before the C library (LD_PRELOAD) and counts each system call that changes files below one folder. The call
   with a given number ends the process, with half of a write done, or is refused with an error. A disk that is full
   stays full: after ENOSPC every later call that needs space is refused too. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PASS, END, REFUSE };
enum { FILES = 65536, NAMES = 65536 };

static char below[PATH_MAX];
static long chosen;
static int refusal;
static int armed;
static atomic_long taken;
static unsigned char watched[FILES];
static const char *names[NAMES];

void faults_arm(const char *folder, long step, int error) {
    snprintf(below, sizeof below, "%s/", folder);
    chosen = step;
    refusal = error;
    memset(watched, 0, sizeof watched);
    atomic_store(&taken, 0);
    armed = 1;
}

void faults_disarm(void) { armed = 0; }

long faults_taken(void) { return atomic_load(&taken); }

const char *faults_name(long step) { return step >= 1 && step <= NAMES ? names[step - 1] : ""; }

static void end(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int turn(const char *name, int grows) {
    long step = atomic_fetch_add(&taken, 1) + 1;
    if (step <= NAMES) names[step - 1] = name;
    if (step == chosen) return refusal ? REFUSE : END;
    return chosen && step > chosen && refusal == ENOSPC && grows ? REFUSE : PASS;
}

static int refused(void) {
    errno = refusal;
    return -1;
}

static int inside(int at, const char *path) {
    char full[PATH_MAX * 2], link[64];
    ssize_t length = 0;
    if (!armed || !path) return 0;
    if (path[0] != '/') {
        if (at == AT_FDCWD) {
            if (!getcwd(full, PATH_MAX)) return 0;
            length = (ssize_t)strlen(full);
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", at);
            length = readlink(link, full, PATH_MAX);
            if (length < 0) return 0;
        }
        full[length++] = '/';
    }
    snprintf(full + length, PATH_MAX, "%s", path);
    return !strncmp(full, below, strlen(below));
}

static int known(int file) { return armed && file >= 0 && file < FILES && watched[file]; }

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

/* A call without half a way: its turn, then the call itself. */
#define CALL(is_watched, grows, name, ...)                    \
    if (is_watched) switch (turn(#name, grows)) {             \
        case END: end(); break;                               \
        case REFUSE: return refused();                        \
        }                                                     \
    return REAL(name, __VA_ARGS__)

#define OPENED(name, at, ...)                                                          \
    mode_t mode = 0;                                                                   \
    if (flags & (O_CREAT | O_TMPFILE)) {                                               \
        va_list rest;                                                                  \
        va_start(rest, flags);                                                         \
        mode = va_arg(rest, mode_t);                                                   \
        va_end(rest);                                                                  \
    }                                                                                  \
    int counts = (flags & O_ACCMODE) != O_RDONLY && inside(at, path);                  \
    if (counts) switch (turn(#name, flags & O_CREAT)) {                                \
        case END: end(); break;                                                        \
        case REFUSE: return refused();                                                 \
        }                                                                              \
    int file = REAL(name, __VA_ARGS__, mode);                                          \
    if (file >= 0 && file < FILES) watched[file] = (unsigned char)counts;              \
    return file

int open(const char *path, int flags, ...) { OPENED(open, AT_FDCWD, path, flags); }
int open64(const char *path, int flags, ...) { OPENED(open64, AT_FDCWD, path, flags); }
int openat(int at, const char *path, int flags, ...) { OPENED(openat, at, at, path, flags); }
int openat64(int at, const char *path, int flags, ...) { OPENED(openat64, at, at, path, flags); }

/* What the C library writes for a FILE cannot be seen from here: its opening is a step, and ends are before it. */
FILE *fopen(const char *path, const char *mode) {
    if (strpbrk(mode, "wa+") && inside(AT_FDCWD, path) && turn("fopen", 1) != PASS) {
        if (!refusal) end();
        errno = refusal;
        return NULL;
    }
    return REAL(fopen, path, mode);
}

#define WRITTEN(name, half, ...)                    \
    if (known(file)) switch (turn(#name, 1)) {      \
        case END: half; end(); break;               \
        case REFUSE: half; return refused();        \
        }                                           \
    return REAL(name, __VA_ARGS__)

ssize_t write(int file, const void *data, size_t size) {
    WRITTEN(write, (void)!REAL(write, file, data, size / 2), file, data, size);
}
ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    WRITTEN(pwrite, (void)!REAL(pwrite, file, data, size / 2, at), file, data, size, at);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    WRITTEN(pwrite64, (void)!REAL(pwrite64, file, data, size / 2, at), file, data, size, at);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    WRITTEN(writev, (void)!REAL(writev, file, parts, count / 2), file, parts, count);
}
ssize_t sendfile(int file, int from, off_t *at, size_t size) {
    ssize_t (*real)(int, int, off_t *, size_t) = dlsym(RTLD_NEXT, "sendfile");
    if (known(file)) switch (turn("sendfile", 1)) {
        case END: end(); break;
        case REFUSE: return refused();
        }
    return real(file, from, at, size);
}
ssize_t copy_file_range(int from, off64_t *of, int file, off64_t *at, size_t size, unsigned flags) {
    CALL(known(file), 1, copy_file_range, from, of, file, at, size, flags);
}

int ftruncate(int file, off_t size) { CALL(known(file), 1, ftruncate, file, size); }
int ftruncate64(int file, off64_t size) { CALL(known(file), 1, ftruncate64, file, size); }
int fchmod(int file, mode_t mode) { CALL(known(file), 0, fchmod, file, mode); }
int chmod(const char *path, mode_t mode) { CALL(inside(AT_FDCWD, path), 0, chmod, path, mode); }

/* A kill takes nothing from the page cache: the wait for the device is left out while steps are counted. */
static int synced(const char *name, int file) {
    if (!armed) return 1;
    char path[PATH_MAX], link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length > 0) {
        path[length] = 0;
        strcat(path, "/");
        if (!strncmp(path, below, strlen(below))) switch (turn(name, 1)) {
            case END: end(); break;
            case REFUSE: return refused();
            }
    }
    return 0;
}
int fsync(int file) {
    int found = synced("fsync", file);
    return found > 0 ? REAL(fsync, file) : found;
}
int fdatasync(int file) {
    int found = synced("fdatasync", file);
    return found > 0 ? REAL(fdatasync, file) : found;
}

int mkdir(const char *path, mode_t mode) { CALL(inside(AT_FDCWD, path), 1, mkdir, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { CALL(inside(at, path), 1, mkdirat, at, path, mode); }
int rmdir(const char *path) { CALL(inside(AT_FDCWD, path), 0, rmdir, path); }
int unlink(const char *path) { CALL(inside(AT_FDCWD, path), 0, unlink, path); }
int unlinkat(int at, const char *path, int flags) { CALL(inside(at, path), 0, unlinkat, at, path, flags); }
int link(const char *from, const char *to) { CALL(inside(AT_FDCWD, to), 1, link, from, to); }
int linkat(int of, const char *from, int at, const char *to, int flags) {
    CALL(inside(at, to), 1, linkat, of, from, at, to, flags);
}
int symlink(const char *from, const char *to) { CALL(inside(AT_FDCWD, to), 1, symlink, from, to); }
int rename(const char *from, const char *to) { CALL(inside(AT_FDCWD, to), 0, rename, from, to); }
int renameat(int of, const char *from, int at, const char *to) { CALL(inside(at, to), 0, renameat, of, from, at, to); }
int renameat2(int of, const char *from, int at, const char *to, unsigned flags) {
    CALL(inside(at, to), 0, renameat2, of, from, at, to, flags);
}

int close(int file) {
    if (file >= 0 && file < FILES) watched[file] = 0;
    return REAL(close, file);
}
