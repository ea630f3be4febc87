import torch


def relative_offset(k, d_model):
    i = torch.arange(d_model // 2)
    turn = torch.polar(torch.ones(d_model // 2), k * torch.exp(-torch.log(torch.tensor(10000.0)) * 2 * i / d_model))
    # (sin, cos) is the point cos + i sin with its axes exchanged
    eye = torch.eye(d_model).view(d_model, -1, 2)
    z = torch.complex(eye[..., 1], eye[..., 0])
    z = z * turn
    return torch.stack([z.imag, z.real], dim=-1).reshape(d_model, d_model).T.contiguous()
