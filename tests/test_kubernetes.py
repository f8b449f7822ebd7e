"""The manifest for Kubernetes agrees with the program and with itself; no cluster is asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

import tfstream
from tfstream.cli.health import health
from tfstream.cli.main import _parser
from tfstream.graph.service import address_of

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "kubernetes"
OBJECTS = list(yaml.safe_load_all((FOLDER / "service.yaml").read_text("utf-8")))
NAMES = {(each["kind"], each["metadata"]["name"]): each for each in OBJECTS}
SERVING = {"dispatcher": "dispatcher", "worker": "workers"}
"""Role, which is the StatefulSet's name, and the Service in front of it."""

each_role = pytest.mark.parametrize("role", SERVING)


def template(role: str) -> dict[str, Any]:
    """Of the pods that have it."""
    kind = "Job" if role == "trainer" else "StatefulSet"
    return NAMES[kind, role]["spec"]["template"]


def container(role: str) -> dict[str, Any]:
    """The only one of a pod."""
    (only,) = template(role)["spec"]["containers"]
    return only


def variables(role: str) -> dict[str, str]:
    """Those whose values are in the manifest."""
    return {each["name"]: each["value"] for each in container(role)["env"] if "value" in each}


def arguments(role: str) -> Any:
    """What the program makes of them; an unknown one ends the test."""
    assert ["tfstream"] == container(role)["command"]
    return _parser().parse_args(container(role)["args"])


def selected(selector: dict[str, Any]) -> set[str]:
    """The roles whose pods a selector of labels takes."""

    def takes(labels: dict[str, str]) -> bool:
        wanted = selector.get("matchLabels", {}).items() <= labels.items()
        rules = selector.get("matchExpressions", [])
        assert all(rule["operator"] == "In" for rule in rules)
        return wanted and all(labels.get(rule["key"]) in rule["values"] for rule in rules)

    roles = (*SERVING, "trainer")
    return {role for role in roles if takes(template(role)["metadata"]["labels"])}


def test_names_are_unique():
    """No object replaces another one."""
    assert len(OBJECTS) == len(NAMES)


@each_role
def test_ports(role):
    """Those of the arguments are those of the container, the Service and the policy."""
    given, spec = arguments(role), container(role)
    ports = {each["name"]: each["containerPort"] for each in spec["ports"]}
    assert {"grpc": given.port, "health": given.health_port} == ports
    (service,) = NAMES["Service", SERVING[role]]["spec"]["ports"]
    assert (given.port, "grpc") == (service["port"], service["targetPort"])
    (rule,) = NAMES["NetworkPolicy", role]["spec"]["ingress"]
    assert [{"protocol": "TCP", "port": given.port}] == rule["ports"]


@each_role
def test_probes(role):
    """Both ask for what the health server answers, at its port."""
    spec = container(role)
    probes = [spec[name]["httpGet"] for name in ("readinessProbe", "livenessProbe")]
    assert {"health"} == {probe["port"] for probe in probes}
    with health(0, dict) as port:
        for probe in probes:
            url = f"http://127.0.0.1:{port}{probe['path']}"
            with urllib.request.urlopen(url, timeout=10) as answer:
                assert 200 == answer.status


@each_role
def test_services_and_policies_take_their_pods(role):
    """By labels, and each StatefulSet names its Service."""
    stateful = NAMES["StatefulSet", role]["spec"]
    service = NAMES["Service", SERVING[role]]["spec"]
    assert SERVING[role] == stateful["serviceName"]
    assert {role} == selected({"matchLabels": service["selector"]})
    assert {role} == selected(stateful["selector"])
    assert {role} == selected(NAMES["NetworkPolicy", role]["spec"]["podSelector"])


@pytest.mark.parametrize(
    ("role", "callers"),
    [("dispatcher", {"worker", "trainer"}), ("worker", {"dispatcher", "trainer"})],
)
def test_who_reaches_the_ports(role, callers):
    """Those that the protocol needs, and nobody from outside."""
    policy = NAMES["NetworkPolicy", role]["spec"]
    assert ["Ingress"] == policy["policyTypes"]
    (rule,) = policy["ingress"]
    (source,) = rule["from"]
    assert ["podSelector"] == list(source)  # of this namespace
    assert callers == selected(source["podSelector"])
    types = {each["spec"].get("type", "ClusterIP") for each in OBJECTS if each["kind"] == "Service"}
    assert {"ClusterIP"} == types


def test_the_dispatcher_is_found():
    """By workers and trainer, at its Service's name and port."""
    port = arguments("dispatcher").port
    assert f"dispatcher:{port}" == address_of(arguments("worker").dispatcher)
    assert f"dispatcher:{port}" == address_of(variables("trainer")["DISPATCHER"])


def test_a_worker_keeps_its_address():
    """The name that its Service gives to its pod, and its port."""
    given = arguments("worker")
    assert f"$(POD_NAME).workers:{given.port}" == given.address
    (name,) = [each for each in container("worker")["env"] if each["name"] == "POD_NAME"]
    assert "metadata.name" == name["valueFrom"]["fieldRef"]["fieldPath"]
    service = NAMES["Service", "workers"]["spec"]
    assert ("None", True) == (service["clusterIP"], service["publishNotReadyAddresses"])


def test_the_dispatcher_keeps_its_state():
    """What it writes is on a volume that outlives it, and there is one dispatcher."""
    given, spec = arguments("dispatcher"), NAMES["StatefulSet", "dispatcher"]["spec"]
    assert (True, 1) == (given.fault_tolerant, spec["replicas"])
    (mount,) = container("dispatcher")["volumeMounts"]
    (claim,) = spec["volumeClaimTemplates"]
    assert (given.work_dir, claim["metadata"]["name"]) == (mount["mountPath"], mount["name"])


def test_keys():
    """Workers and trainer have those of one Secret; the dispatcher has none, and none is here."""
    secrets = {role: container(role).get("envFrom", []) for role in (*SERVING, "trainer")}
    assert [] == secrets["dispatcher"]
    assert [{"secretRef": {"name": "photos-credentials"}}] == secrets["worker"]
    assert secrets["worker"] == secrets["trainer"]
    assert all(each["kind"] != "Secret" for each in OBJECTS)


def test_one_image():
    """All have one, so one tfstream: this one, as the Dockerfile makes it."""
    images = {container(role)["image"] for role in (*SERVING, "trainer")}
    assert {f"registry.example/tfstream:{tfstream.__version__}"} == images
    dockerfile = (FOLDER / "Dockerfile").read_text("utf-8")
    assert f"-t {images.pop()} " in dockerfile
    users = {template(role)["spec"]["securityContext"]["runAsUser"] for role in SERVING}
    assert {int(re.search(r"^USER (\d+)$", dockerfile, re.M)[1])} == users


@pytest.mark.slow
def test_the_trainer(s3_server, digits, tmp_path):
    """Its program, with the manifest's other processes on loopback, trains to the end."""
    s3_server.create_bucket("kubernetes")
    for file in digits.rglob("*.*"):
        key = f"train/{file.relative_to(digits).as_posix()}"
        s3_server.upload("kubernetes", key, file.read_bytes())
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "AWS_ENDPOINT_URL": s3_server.endpoint,
        "AWS_ACCESS_KEY_ID": s3_server.access_key_id,
        "AWS_SECRET_ACCESS_KEY": s3_server.secret_access_key,
    }
    (name, text), *_ = NAMES["ConfigMap", "trainer"]["data"].items()
    assert ["python", f"/program/{name}"] == container("trainer")["command"]
    program = tmp_path / name
    program.write_text(text, "utf-8")

    def start(*command: object, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *map(str, command)],
            env={**environment, **more},
            stdout=subprocess.PIPE,
            text=True,
        )

    processes = [start("-m", "tfstream", "dispatcher", "--port", 0)]
    try:
        url = processes[0].stdout.readline().split()[-1]
        processes.append(start("-m", "tfstream", "worker", "--dispatcher", url))
        assert "worker of" in processes[1].stdout.readline()
        processes.append(start(program, BUCKET="kubernetes", DISPATCHER=url))
        said, _ = processes[2].communicate(timeout=100)
        assert (0, True) == (processes[2].returncode, "Epoch 3/3" in said)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
