int helper(int n) { return n + WHICH; }
int plugin(void) { return helper(1); }
