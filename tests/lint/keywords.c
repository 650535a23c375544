/* Prints the keyword table for tests/lint/manual: "keywords table" or "keywords later" (conf/keyword.h). */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "conf/keyword.h"

int main(int argc, char **argv)
{
    struct strbuf text = STRBUF_INIT;

    if (argc == 2 && strcmp(argv[1], "table") == 0)
        keyword_table_print(&text);
    else if (argc == 2 && strcmp(argv[1], "later") == 0)
        keyword_later_print(&text);
    else
        return 2;
    int status = fwrite(text.data, 1, text.length, stdout) == text.length && fflush(stdout) == 0 ? 0 : 1;
    strbuf_clear(&text);
    return status;
}
