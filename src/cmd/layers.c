#include "cmd/layers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "capture/layers_open.h"

void layers_list(void)
{
	static const char *const when[] = {
		[WHEN_ALWAYS] = "always", [WHEN_DEFAULT] = "by default", [WHEN_NAMED] = "when named"
	};

	for (unsigned i = 0; i < LAYER_COUNT; i++)
		printf("%-9s %-12s %s\n", schema_layers[i].name,
		       layers_available() & LAYER_BIT(i) ? when[schema_layers[i].when] : "not yet",
		       schema_layers[i].doc);
}

int layers_parse(const char *text, uint32_t *layers, uint32_t *required, struct error *e)
{
	char copy[256], hint[512], *rest = copy;

	*required = 0;
	*layers = layers_that(WHEN_ALWAYS);
	if (!text) {
		*layers |= layers_that(WHEN_DEFAULT);
		return 0;
	}
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
		unsigned layer = 0;

		while (layer < LAYER_COUNT && strcmp(word, layer_names.names[layer]))
			layer++;
		if (layer == LAYER_COUNT)
			return error_set(e, -EINVAL, "no layer '%s': %s", word,
					 suggest_names(hint, sizeof(hint), word, layer_names.names,
						       layer_names.count));
		if (!(layers_available() & LAYER_BIT(layer)))
			return error_set(e, -ENOTSUP,
					 "layer '%s' cannot be recorded by this version of strata",
					 word);
		*required |= LAYER_BIT(layer);
	}
	*layers |= *required;
	return 0;
}
