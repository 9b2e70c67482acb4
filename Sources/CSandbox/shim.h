#ifndef CSANDBOX_SHIM_H
#define CSANDBOX_SHIM_H

/*
 * Landlock and seccomp, which have no functions in the C library. The numbers are those of the kernel's
 * interface: the headers of an older kernel lack some of them.
 */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

long syscall(long number, ...);

enum {
  csandbox_create_ruleset = 444,
  csandbox_add_rule = 445,
  csandbox_restrict_self = 446,
};

/* The rights of Landlock, by bit. */
enum {
  csandbox_execute = 1 << 0,
  csandbox_write_file = 1 << 1,
  csandbox_read_file = 1 << 2,
  csandbox_read_folder = 1 << 3,
  csandbox_remove_folder = 1 << 4,
  csandbox_remove_file = 1 << 5,
  csandbox_make_folder = 1 << 7,
  csandbox_make_file = 1 << 8,
  csandbox_truncate = 1 << 14,
};

/* O_PATH, which fcntl.h shows only with _GNU_SOURCE: a descriptor that names a file and can't read it. */
enum { csandbox_name_only = 010000000 };

/* The version of the kernel's Landlock, or a negative number if it has none. */
static inline int csandbox_version(void) {
  return (int)syscall(csandbox_create_ruleset, (void *)0, (size_t)0, 1u);
}

/* All rights that concern files in a version of Landlock. */
static inline uint64_t csandbox_file_rights(int version) {
  uint64_t rights = (1u << 13) - 1;          /* up to making a link to a block device */
  if (version >= 2) rights |= 1u << 13;      /* linking and renaming to another folder */
  if (version >= 3) rights |= csandbox_truncate;
  if (version >= 5) rights |= 1u << 15;      /* ioctl of a device */
  return rights;
}

/* A set of rules without a rule, which allows nothing: its descriptor, or -1. */
static inline int csandbox_make(int version) {
  struct {
    uint64_t files, network, scopes;
  } handled = {csandbox_file_rights(version), 0, 0};
  size_t size = sizeof(uint64_t);
  if (version >= 4) {
    handled.network = 3;  /* TCP: binding and connecting */
    size = 2 * sizeof(uint64_t);
  }
  if (version >= 6) {
    handled.scopes = 3;  /* abstract Unix sockets and signals of other processes */
    size = 3 * sizeof(uint64_t);
  }
  return (int)syscall(csandbox_create_ruleset, &handled, size, 0u);
}

/* Allows rights below an open folder, or for an open file. */
static inline int csandbox_allow(int rules, int descriptor, uint64_t rights) {
  struct {
    uint64_t rights;
    int32_t descriptor;
  } __attribute__((packed)) rule = {rights, descriptor};
  return (int)syscall(csandbox_add_rule, rules, 1, &rule, 0u);
}

/* Applies rules to the calling thread and those it creates, irrevocably. */
static inline int csandbox_apply(int rules) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(csandbox_restrict_self, rules, 0u);
}

/*
 * Makes the calling thread and those it creates unable to create a socket of any kind: Landlock covers only
 * TCP. Requires csandbox_apply. Returns -1 where the numbers of system calls aren't known.
 */
static inline int csandbox_forbid_sockets(void) {
#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
  const uint32_t machine = AUDIT_ARCH_X86_64;
#else
  const uint32_t machine = AUDIT_ARCH_AARCH64;
#endif
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      /* The system calls of another machine, such as 32 bits, have other numbers. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      /* x32 on x86-64 has the same machine and greater numbers; on ARM, there are none. */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 2, 0),
      /* io_uring_setup: a ring creates sockets without a system call for each. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 425, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
  };
  struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
#else
  return -1;
#endif
}

#endif
