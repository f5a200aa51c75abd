/* Writes five data sets of 1000 doubles into a new file, and reads one of them back. */
#include <hdf5.h>
#include <stdio.h>

#define SETS 5

int main(int argc, char **argv)
{
	static double values[1000];
	hsize_t size = 1000;
	hid_t file =
		H5Fcreate(argc > 1 ? argv[1] : "out.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t space = H5Screate_simple(1, &size, NULL);
	int bad = 0;

	for (int i = 0; i < SETS; i++) {
		char name[16];
		hid_t set;

		snprintf(name, sizeof(name), "set%d", i);
		set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
				 H5P_DEFAULT);
		bad |= H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
		if (!i)
			bad |= H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
				       values) < 0;
		H5Dclose(set);
	}
	H5Sclose(space);
	H5Fclose(file);
	return bad;
}
