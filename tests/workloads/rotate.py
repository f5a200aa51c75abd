#!/usr/bin/python3
# Calls for a recording that goes on in many files. One file is opened at the beginning and read N times, each time at another
# position; a thread that took its name at the beginning reads another; many files are opened for a short time.
#
#     rotate.py DIR N
import ctypes
import os
import sys
import threading
import time

folder, count = sys.argv[1], int(sys.argv[2])
done = False


def steady():
    ctypes.CDLL(None).prctl(15, b"named-early", 0, 0, 0)
    fd = os.open(f"{folder}/steady", os.O_RDWR | os.O_CREAT)
    while not done:
        os.pread(fd, 2, 0)
        time.sleep(0.001)


held = os.open(f"{folder}/held", os.O_RDWR | os.O_CREAT)
thread = threading.Thread(target=steady)
thread.start()
for number in range(count):
    os.pread(held, 1, number)
    if number % 10 == 0:
        fd = os.open(f"{folder}/f{number % 3000}", os.O_RDWR | os.O_CREAT)
        os.pwrite(fd, b"abc", number)
        os.close(fd)
    if number % 2000 == 0 and os.fork() == 0:
        os.pread(held, 5, number)
        os._exit(0)
done = True
thread.join()
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
