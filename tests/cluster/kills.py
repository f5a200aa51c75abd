#!/usr/bin/python3
"""Pushes a trace while its client and its server are killed at random, until all of it is there.

    kills.py KILLS SEED SERVER_FOLDER SERVER PUSH...

SERVER_FOLDER/pid has the server's process id; SERVER is the command that starts it. PUSH is the command that pushes; it goes
on where it was killed. At least KILLS kills happen, half of them of the client. Prints how many of each.
"""
import random
import shlex
import subprocess
import sys
import time

kills, seed, folder, server, *push = sys.argv[1:]
kills, rng = int(kills), random.Random(int(seed))
done = {"client": 0, "server": 0}


def kill_server():
    pid = int(open(folder + "/pid").read())
    subprocess.run(["kill", "-KILL", str(pid)])
    time.sleep(rng.uniform(0, 0.3))
    started = subprocess.Popen(shlex.split(server), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    open(folder + "/pid", "w").write(str(started.pid))


end = time.time() + 500
while time.time() < end:
    client = subprocess.Popen(push, stderr=subprocess.PIPE, text=True)
    while sum(done.values()) < kills:
        time.sleep(rng.uniform(0.02, 0.25))
        if client.poll() is not None:
            break
        if rng.random() < 0.5:
            client.kill()
            done["client"] += 1
            break
        kill_server()
        done["server"] += 1
    words = client.communicate()[1]
    if client.returncode == 0:
        break
else:
    sys.exit("never done: " + words)
print(done)
sys.exit(sum(done.values()) < kills)
