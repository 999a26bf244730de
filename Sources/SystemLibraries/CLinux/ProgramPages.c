/* The pages of the program's own file in memory. */
#define _GNU_SOURCE
#include "CLinux.h"
#include <link.h>
#include <poll.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* `context`: an address in the wanted object; NULL: the first object, which is the program. */
static int give_back_segments(struct dl_phdr_info *object, size_t size, void *context) {
    for (int i = 0; context && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && (uintptr_t)context - start < header->p_memsz) context = NULL;
    }
    if (context) return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), relocated = 0, relocated_end = 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        if (header->p_type != PT_GNU_RELRO) continue;
        relocated = header->p_vaddr;
        relocated_end = header->p_vaddr + header->p_memsz;
    }
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
        if (header->p_vaddr < relocated_end && relocated < header->p_vaddr + header->p_memsz) continue;
        uintptr_t start = (object->dlpi_addr + header->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + header->p_vaddr + header->p_memsz) & ~(page - 1);
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 1;
}

void linux_give_back_program_pages(void) { dl_iterate_phdr(give_back_segments, NULL); }
void linux_give_back_library_pages(const void *address) { dl_iterate_phdr(give_back_segments, (void *)address); }

/* After the release, a thread needs no other code of the program than one of these two functions until its wait. */
int linux_give_back_before_wait(struct sd_event_source *source, void *context) {
    (void)source, (void)context;
    linux_give_back_program_pages();
    return 0;
}
int linux_await_count(int event, int timer, int gives_back) {
    /* Direct calls would go through a table, which is code of the program too. */
    static int (*volatile poll_directly)(struct pollfd *, nfds_t, int) = poll;
    static ssize_t (*volatile read_directly)(int, void *, size_t) = read;
    struct pollfd awaited[] = {{.fd = event, .events = POLLIN}, {.fd = timer, .events = POLLIN}};
    uint64_t count;
    if (gives_back) linux_give_back_program_pages();
    if (poll_directly(awaited, 2, -1) <= 0) return 0;
    if (awaited[0].revents && read_directly(event, &count, sizeof count) < 0) return 0;
    return awaited[1].revents && read_directly(timer, &count, sizeof count) > 0;
}
