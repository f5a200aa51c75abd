/* The folder for what does not fit into memory: made anew under a name that nobody could guess, closed to all others, and
 * gone with the database.
 */
#ifndef STRATA_QUERY_SPILL_H
#define STRATA_QUERY_SPILL_H

/* The path of a new folder below $TMPDIR or /tmp; NULL: there can be none. */
char *spill_make(void);

/* Removes the folder with all that is in it, and frees its path; NULL is fine. */
void spill_remove(char *path);

#endif
