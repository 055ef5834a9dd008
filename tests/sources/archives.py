"""Archives in memory."""

import io
import tarfile


def tar(members, mode="w"):
    """A tar archive of members by name; `mode` as tarfile's, with its compression."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()
