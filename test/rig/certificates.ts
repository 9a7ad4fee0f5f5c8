/** A certificate in PEM, with its key. */
export interface KeyPair {
  certificate: string;
  key: string;
}

/* Invented, for `localhost`, valid for a hundred years; each is its own authority. That of the server is not marked as one, which the native client would refuse. */

export const serverPair: KeyPair = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBjTCCATKgAwIBAgIUbg/BoWje74JltqCdrIujFrstNQQwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGc2VydmVyMCAXDTI2MTEyOTA3MTAxMloYDzIxMjYxMTA1MDcx
MDEyWjARMQ8wDQYDVQQDDAZzZXJ2ZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AASH026vDJ5uDWxxn8J0e/igv55iD0thuHpwj8m2B/f2Dim/n6VfK+Jbpm/R+fHA
FwFBcLOh3hcke7KzjWdJ49oZo2YwZDAdBgNVHQ4EFgQUtp6VjJotkYCOeCuHQbDC
zUEJdGIwHwYDVR0jBBgwFoAUtp6VjJotkYCOeCuHQbDCzUEJdGIwDAYDVR0TAQH/
BAIwADAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwIDSQAwRgIhAJ5c
pjxyASHfrVCdgVsX5SacERRdjbfMAJrRMCMVLdJwAiEA/9tvMQBGAmHHrJNo9zxG
yiA6NOLh88WrANncM4ER2SE=
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+xyN1ibcfO+tBVTJ
qfUxJyt6C9RVIbHl6s7FwhBhEA6hRANCAASH026vDJ5uDWxxn8J0e/igv55iD0th
uHpwj8m2B/f2Dim/n6VfK+Jbpm/R+fHAFwFBcLOh3hcke7KzjWdJ49oZ
-----END PRIVATE KEY-----
`,
};

export const otherPair: KeyPair = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBjjCCATOgAwIBAgIUVQZu79GsASMs/cipTSHKhFCQQ28wCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTI2MTgyOTQwWhgPMjEyNjExMDIxODI5
NDBaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
qv6dIHJL7mp7h++evwQu9shnNuid6hgWLwaMaDGhjcUoftb5WlhrRm3kykAjbVqF
2e2cQSLFUbQyynX3s1Vyd6NpMGcwHQYDVR0OBBYEFMvyvzuKJqE6EX/t0DEHDKrJ
JyjAMB8GA1UdIwQYMBaAFMvyvzuKJqE6EX/t0DEHDKrJJyjAMA8GA1UdEwEB/wQF
MAMBAf8wFAYDVR0RBA0wC4IJbG9jYWxob3N0MAoGCCqGSM49BAMCA0kAMEYCIQDn
/k8vn6LjYc2wvLjGb0YLWBnSYM+zke7lrNCnl2MDNgIhAPKuHdP+cJuQ09JNjn+P
2QnemYOFaApXlgk8w12eomVq
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgeA9/4QW8hJ+VoJ6b
Eccl1XpK+JQQXFr1HD1y4OYoqYShRANCAASq/p0gckvuanuH756/BC72yGc26J3q
GBYvBoxoMaGNxSh+1vlaWGtGbeTKQCNtWoXZ7ZxBIsVRtDLKdfezVXJ3
-----END PRIVATE KEY-----`,
};
