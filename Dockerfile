# Build from a git clone: DVC and the record of a run look at the repository.
# docker build --target cpu -t compass .        docker run --rm -v "$PWD/out:/compass/reports" compass
# docker build --target gpu -t compass:gpu .    docker run --rm --gpus all --shm-size 16g compass:gpu
# docker build --target slim -t compass:slim .  docker run --rm -v "$PWD:/work" compass:slim curate mine.csv --out curated

# Curation and scoring alone, without torch: about 1 GB; with --build-arg EXTRA=curate about .7 GB.
FROM python:3.11-slim-bookworm AS slim
ARG EXTRA=score
COPY pyproject.toml README.md LICENSE /source/
COPY compass /source/compass
COPY stages /source/stages
COPY flows /source/flows
# Compiled here: the image's user may not write beside the packages.
RUN pip install --no-cache-dir --root-user-action=ignore "/source[${EXTRA},hub]" && rm -rf /source
WORKDIR /work
USER 1000
ENTRYPOINT ["compass"]
CMD ["--help"]

FROM python:3.11-slim-bookworm AS common
# git for DVC and MLflow's commit tags, libnuma for vLLM's CPU kernels; requirements/prerequisites.py checks the same.
# Chromium is left out: only tests that open pages use it, and they are skipped without it.
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash git libnuma1 make \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /compass
# The environment before the sources: an edit of the code does not install it again.
COPY Makefile pyproject.toml README.md LICENSE ./
COPY requirements requirements
RUN mkdir compass stages flows && touch compass/__init__.py stages/__init__.py flows/__init__.py

FROM common AS cpu
ENV DEVICE=cpu
RUN make setup DEVICE=cpu && rm -rf /root/.cache
COPY . .
# A copy newer than the set-up's mark would repeat it.
RUN touch .venv/.ready-cpu
CMD ["make", "pipeline"]

FROM common AS gpu
# Triton compiles a launcher for each of its kernels at run time; Python's headers are in the image
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
ENV DEVICE=gpu
RUN make setup DEVICE=gpu && rm -rf /root/.cache
COPY . .
RUN touch .venv/.ready-gpu
CMD ["make", "pipeline", "DEVICE=gpu"]
