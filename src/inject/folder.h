/* The folders that recordings make for the job, and what is left of those whose recorder was killed.
 *
 *     /dev/shm/strata-job-NAMESPACE-XXXXXX    NAMESPACE: the recorder's pid namespace, in which the job's processes can be looked for
 *
 * The recorder holds a lock on the folder itself, and the kernel lets it go with the recorder, however that ends. So a folder with a free
 * lock is nobody's. Its libraries stay for as long as a process has their path in its environment or has loaded one: it could start
 * programs whose loader complains of each that it does not find.
 */
#ifndef STRATA_INJECT_FOLDER_H
#define STRATA_INJECT_FOLDER_H

#include <limits.h>
#include <sys/types.h>

#define FOLDER_BASES 4

/* Where folders can be, those that are tried first first; NULL: this one is not there. */
const char *folder_base(unsigned which);

/* Makes a folder there and locks it. Returns what holds the lock, until it is closed; -1: errno says why. */
int folder_make(unsigned which, uid_t uid, gid_t gid, char path[PATH_MAX]);

/* Takes a folder away with all that is in it, and closes what holds its lock. */
void folder_remove(const char *path, int lock);

/* Takes away what recorders of this user have left: `file` of each at once, the rest when no process needs it. */
void folder_remove_leftovers(uid_t uid, const char *file);

#endif
