#include "tls_key.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

#include "tls/tls_lib.h"

/* Asked for only when the key is encrypted: remembers that, and gives no passphrase. */
static int on_passphrase(char *buffer, int size, int writing, void *asked)
{
    (void)buffer;
    (void)size;
    (void)writing;
    *(int *)asked = 1;
    return -1;
}

EVP_PKEY *tls_key_read(const char *name, const char *pem, size_t length, struct error *errors)
{
    struct place place = {.file = name};
    int asked = 0;

    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(pem, (int)length);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, on_passphrase, &asked) : NULL;
    BIO_free(bio);
    if (key == NULL) {
        char reason[TLS_REASON_MAX];

        if (asked)
            (void)error_add(errors, &place,
                            "the private key is encrypted, which is not supported yet: decrypt it with "
                            "'openssl pkey -in KEY -out PLAIN'");
        else if (memmem(pem, length, "PRIVATE KEY-----", 16) == NULL)
            (void)error_add(errors, &place,
                            "no private key in it: put the key before the certificate, or name its file with "
                            "private-key in a pem-file block");
        else
            (void)error_add(errors, &place, "the private key cannot be read: %s",
                            tls_lib_reason(reason, sizeof reason));
    }
    ERR_clear_error();
    return key;
}
