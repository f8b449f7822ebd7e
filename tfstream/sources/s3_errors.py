"""
What botocore's and urllib3's errors mean for `sources.s3`.

```
an HTTP answer             ClientError                       by status and code, exact
no answer                  HTTPClientError                   TransientError: timeout, connection
a body that breaks off     urllib3's own errors              TransientError: cut body
not an S3 answer           ResponseParserError               TransientError: a proxy's page
no usable credentials      NoCredentialsError and others     AuthenticationError
```
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tfstream.errors import AuthenticationError, MissingDependencyError, SourceError
from tfstream.sources.base import TransientError
from tfstream.sources.obstore_errors import by_status

_WRONG_REGION = ("AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect")


def botocore_package() -> Any:
    """The package with its `session`, imported when first needed."""
    try:
        import botocore.session
    except ImportError:
        raise MissingDependencyError('pip install "tfstream[s3]"') from None
    return botocore


def no_credentials(url: str) -> AuthenticationError:
    """Nothing to sign with: says where it looked."""
    return AuthenticationError(
        f"no AWS credentials for {url}: looked at the credentials argument, AWS_ACCESS_KEY_ID, "
        "AWS_PROFILE, ~/.aws/credentials, ~/.aws/config and the roles of containers and "
        "instances; a public bucket needs anonymous=True"
    )


@contextmanager
def translated(*, url: str, path: str | None = None, needs: str) -> Iterator[None]:
    """Errors of botocore and urllib3 leave as those of `translate`, without their own text."""
    botocore_package()
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError
    from urllib3.exceptions import HTTPError

    try:
        yield
    except (BotoCoreError, ClientError, ResponseParserError, HTTPError) as error:
        raise translate(error, url=url, path=path, needs=needs) from None


def translate(
    error: Exception, *, url: str, path: str | None = None, needs: str
) -> TransientError | SourceError:
    """What to raise for an error of botocore or urllib3. `needs` is a permission's name."""
    import botocore.exceptions as botocore
    import urllib3.exceptions as urllib3
    from botocore.parsers import ResponseParserError

    if isinstance(error, botocore.ClientError):
        return _answered(error.response, url=url, path=path, needs=needs)
    if isinstance(error, ResponseParserError):
        return TransientError("not an S3 answer", kind="bad answer")
    if isinstance(error, botocore.NoCredentialsError):
        return no_credentials(url)
    if isinstance(error, botocore.ProfileNotFound):
        return AuthenticationError(f"{error}: it is not in ~/.aws/config; for {url}")
    if isinstance(error, (botocore.HTTPClientError, botocore.ConnectionError, urllib3.HTTPError)):
        return _unanswered(error, url=url, path=path)
    auth = (botocore.PartialCredentialsError, botocore.CredentialRetrievalError, botocore.SSOError)
    if isinstance(error, auth):  # its text may quote what a program printed
        return AuthenticationError(f"no usable credentials for {url}: {type(error).__name__}")
    return SourceError(f"{url} cannot be reached: {type(error).__name__}: {error}", path=path)


def _answered(
    answer: dict[str, Any], *, url: str, path: str | None, needs: str
) -> TransientError | SourceError:
    code = answer.get("Error", {}).get("Code")
    status = answer["ResponseMetadata"]["HTTPStatusCode"]
    headers = answer["ResponseMetadata"].get("HTTPHeaders", {})
    if code in _WRONG_REGION or status == 301:
        region = headers.get("x-amz-bucket-region", "another one")
        return SourceError(
            f"{url} is not in this region ({status} {code}) but in {region}: pass region=…",
            path=path,
        )
    after = retry_after(headers.get("retry-after"))
    return by_status(status, code, url=url, path=path, needs=needs, retry_after=after)


def _unanswered(error: Exception, *, url: str, path: str | None) -> TransientError | SourceError:
    import botocore.exceptions as botocore
    import urllib3.exceptions as urllib3

    timeouts = (botocore.ConnectTimeoutError, botocore.ReadTimeoutError, urllib3.TimeoutError)
    if isinstance(error, timeouts):
        return TransientError("timeout", kind="timeout")
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return SourceError(f"the server's certificate is not trusted: {url}", path=path)
    if isinstance(error, urllib3.HTTPError):  # botocore hides these until the body is read
        return TransientError("cut body", kind="cut body")
    what = f"{_endpoint_of(error)} cannot be reached or broke off ({type(error).__name__})"
    return TransientError(what, kind="connection")


def _endpoint_of(error: Exception) -> str:
    """Scheme and host of the URL that botocore's error has: the rest may be a signed URL."""
    found = urlsplit(str(getattr(error, "kwargs", {}).get("endpoint_url") or ""))
    host = found.netloc.rpartition("@")[2]
    return f"{found.scheme}://{host}" if host else "the connection"


def retry_after(header: str | None) -> float | None:
    """Seconds that a `Retry-After` header asks for; None without one that can be read."""
    from urllib3.exceptions import InvalidHeader
    from urllib3.util import Retry

    try:
        return None if header is None else Retry().parse_retry_after(header)
    except InvalidHeader:
        return None
