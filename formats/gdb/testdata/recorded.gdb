Breakpoint 1 at 0x1250: file busy_heap.cpp, line 21.
[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".

Breakpoint 1, nest (depth=depth@entry=2) at busy_heap.cpp:21
21	__attribute__((noinline)) int nest(int depth) {

Thread 1 (Thread 0x7ffff7eb5440 (LWP 28990) "heap"):
#0  nest (depth=depth@entry=2) at busy_heap.cpp:21
#1  0x000055555555529e in nest (depth=depth@entry=3) at busy_heap.cpp:23
#2  0x000055555555529e in nest (depth=depth@entry=4) at busy_heap.cpp:23
#3  0x000055555555529e in nest (depth=depth@entry=5) at busy_heap.cpp:23
#4  0x000055555555529e in nest (depth=depth@entry=6) at busy_heap.cpp:23
#5  0x0000555555555479 in main () at busy_heap.cpp:39
Breakpoint 1 at 0x11a7: file busy.c, line 23.
[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".
[New Thread 0x7ffff7dd06c0 (LWP 29002)]
[Switching to Thread 0x7ffff7dd06c0 (LWP 29002)]

Thread 2 "busy" hit Breakpoint 1, smooth (rounds=rounds@entry=6000000) at busy.c:23
23	  for (int i = 0; i < rounds; ++i) sink += square(i) / (i + 1);

Thread 2 (Thread 0x7ffff7dd06c0 (LWP 29002) "busy"):
#0  smooth (rounds=rounds@entry=6000000) at busy.c:23
#1  0x0000555555555218 in work (what=<optimized out>) at busy.c:29
#2  0x00007ffff7e5d1f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#3  0x00007ffff7edd8ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 1 (Thread 0x7ffff7dd1740 (LWP 28999) "busy"):
#0  0x00005555555551a5 in fib (n=n@entry=4) at busy.c:9
#1  0x0000555555555197 in fib (n=n@entry=5) at busy.c:9
#2  0x00005555555551a1 in fib (n=n@entry=7) at busy.c:9
#3  0x0000555555555197 in fib (n=n@entry=8) at busy.c:9
#4  0x00005555555551a1 in fib (n=n@entry=10) at busy.c:9
#5  0x0000555555555197 in fib (n=n@entry=11) at busy.c:9
#6  0x0000555555555197 in fib (n=n@entry=12) at busy.c:9
#7  0x00005555555551a1 in fib (n=n@entry=14) at busy.c:9
#8  0x0000555555555197 in fib (n=n@entry=15) at busy.c:9
#9  0x0000555555555197 in fib (n=n@entry=16) at busy.c:9
#10 0x0000555555555197 in fib (n=n@entry=17) at busy.c:9
#11 0x0000555555555197 in fib (n=n@entry=18) at busy.c:9
#12 0x00005555555551a1 in fib (n=n@entry=20) at busy.c:9
#13 0x00005555555551a1 in fib (n=n@entry=22) at busy.c:9
#14 0x00005555555551a1 in fib (n=n@entry=24) at busy.c:9
#15 0x0000555555555197 in fib (n=n@entry=25) at busy.c:9
#16 0x0000555555555197 in fib (n=n@entry=26) at busy.c:9
#17 0x00005555555551a1 in fib (n=n@entry=28) at busy.c:9
#18 0x0000555555555197 in fib (n=n@entry=29) at busy.c:9
#19 0x0000555555555197 in fib (n=n@entry=30) at busy.c:9
#20 0x00005555555551f2 in work (what=what@entry=0x0) at busy.c:28
#21 0x00005555555552b8 in main () at busy.c:37
Breakpoint 2 at 0x555555555222: file busy.c, line 12.
[Thread 0x7ffff7dd06c0 (LWP 29002) exited]
[Inferior 1 (process 28999) exited normally]
