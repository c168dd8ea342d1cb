import shutil
from pathlib import Path

import pytest
from tests.bmc.certificate import Certificate, make_certificate


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    return make_certificate(Path(tmp_path_factory.mktemp("certificate")))
