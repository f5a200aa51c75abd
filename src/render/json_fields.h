/* Fields of a struct as members of the JSON object that is open, each under its own name and by its own
 * type, and lists of objects:
 *
 *     static void print_cpu(struct json *json, const struct task_cpu *cpu)
 *     {
 *             JSON_FIELDS(json, cpu, cpu, busy_ns, idle_ns);
 *     }
 *
 *     JSON_LIST(json, "cpus", tasks->cpus, tasks->cpu_count, print_cpu);
 */
#ifndef STRATA_RENDER_JSON_FIELDS_H
#define STRATA_RENDER_JSON_FIELDS_H

#include "render/json.h"

/* A field of another type, an array of char too, does not compile. */
#define JSON_FIELD(json, of, field) \
	_Generic((of)->field,       \
		uint64_t: json_uint,   \
		uint32_t: json_uint,   \
		int64_t: json_int,     \
		double: json_real,     \
		bool: json_bool,       \
		const char *: json_string)(json, #field, (of)->field);

/* At most 10 fields. */
#define JSON_FIELDS(json, of, ...)                                                                 \
	do {                                                                                       \
		JSON_COUNTED(__VA_ARGS__, JSON_10, JSON_9, JSON_8, JSON_7, JSON_6, JSON_5, JSON_4, \
			     JSON_3, JSON_2, JSON_1, )                                             \
		(json, of, __VA_ARGS__)                                                            \
	} while (0)
#define JSON_COUNTED(a, b, c, d, e, f, g, h, i, j, chosen, ...) chosen

#define JSON_1(json, of, field)	      JSON_FIELD(json, of, field)
#define JSON_2(json, of, field, ...)  JSON_FIELD(json, of, field) JSON_1(json, of, __VA_ARGS__)
#define JSON_3(json, of, field, ...)  JSON_FIELD(json, of, field) JSON_2(json, of, __VA_ARGS__)
#define JSON_4(json, of, field, ...)  JSON_FIELD(json, of, field) JSON_3(json, of, __VA_ARGS__)
#define JSON_5(json, of, field, ...)  JSON_FIELD(json, of, field) JSON_4(json, of, __VA_ARGS__)
#define JSON_6(json, of, field, ...)  JSON_FIELD(json, of, field) JSON_5(json, of, __VA_ARGS__)
#define JSON_7(json, of, field, ...)  JSON_FIELD(json, of, field) JSON_6(json, of, __VA_ARGS__)
#define JSON_8(json, of, field, ...)  JSON_FIELD(json, of, field) JSON_7(json, of, __VA_ARGS__)
#define JSON_9(json, of, field, ...)  JSON_FIELD(json, of, field) JSON_8(json, of, __VA_ARGS__)
#define JSON_10(json, of, field, ...) JSON_FIELD(json, of, field) JSON_9(json, of, __VA_ARGS__)

/* An array of objects, whose members print_one(json, element) prints. */
#define JSON_LIST(json, key, list, count, print_one)      \
	do {                                              \
		json_open(json, key, '[');                \
		for (size_t at = 0; at < (count); at++) { \
			json_open(json, NULL, '{');       \
			print_one(json, &(list)[at]);     \
			json_close(json);                 \
		}                                         \
		json_close(json);                         \
	} while (0)

#endif
